# Sets `version` to what git describes; in a folder without git, which has the name of its version or commit as in a tarball, to that
# name; where neither tells a version, to that of the project, with the commit if there is one. `version_log` is a file that changes with
# each commit, or empty.
set(version ${PROJECT_VERSION})
set(version_log "")
execute_process(COMMAND git rev-parse --show-prefix --short HEAD --git-path logs/HEAD WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
  OUTPUT_VARIABLE git ERROR_QUIET)
if(git MATCHES "^\n(.*)\n([0-9a-f]+)\n$")  # this folder is the top of a work tree
  file(REAL_PATH "${CMAKE_MATCH_1}" version_log BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
  string(APPEND version +g${CMAKE_MATCH_2})
  execute_process(COMMAND git describe --tags WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE tag
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(tag MATCHES "^v?([0-9].*)$")
    set(version ${CMAKE_MATCH_1})
  endif()
elseif(CMAKE_SOURCE_DIR MATCHES "/rnnsearch-v?([0-9]+\\.[^/]*)$")
  set(version ${CMAKE_MATCH_1})
elseif(CMAKE_SOURCE_DIR MATCHES "/rnnsearch-([0-9a-f]+)$")
  string(SUBSTRING ${CMAKE_MATCH_1} 0 7 commit)
  string(APPEND version +g${commit})
endif()
message(STATUS "rnnsearch ${version}")
