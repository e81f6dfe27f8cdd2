# CPack runs this on the files of a package, below CPACK_TEMPORARY_INSTALL_DIRECTORY, before it packs them: changes that Debian's policy
# requires.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
set(documents ${root}/share/doc/rnnsearch)

# Debian's libraries are all on the standard path, where RPATHs of their development files must not lead (policy, section 10.2).
file(RPATH_REMOVE FILE ${root}/bin/rnnsearch)

if(NOT EXISTS ${root}/share/man)
  message(FATAL_ERROR "a Debian package has man pages, which need Perl: apt-get install perl, configure again, and start cpack again")
endif()

# zsh of Debian does not search site-functions below /usr.
file(RENAME ${root}/share/zsh/site-functions ${root}/share/zsh/vendor-completions)

# policy, sections 12.5 and 12.7
file(WRITE ${documents}/copyright "rnnsearch ${CPACK_PACKAGE_VERSION}\n\n"
  "Copyright (C) the authors of rnnsearch\n\nNo licence has been granted yet.\n")
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${documents}/changelog "rnnsearch (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
  "  * Built from the sources of this version.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${now}\n")

# policy, sections 12.1 and 12.7: compressed, without a time stamp
file(GLOB pages ${root}/share/man/man1/*)
execute_process(COMMAND gzip -9n ${pages} ${documents}/changelog COMMAND_ERROR_IS_FATAL ANY)
