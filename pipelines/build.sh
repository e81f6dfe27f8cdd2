#!/usr/bin/env bash
# pipelines/build.sh [TARGET...] [-- CMAKE_OPTION...]: configures and builds (Release) what is out of date; without TARGET only the
# program. The options after -- are passed to cmake, which remembers them in the build folder:
#   pipelines/build.sh -- -DCMAKE_INSTALL_PREFIX=$HOME/.local
# pipelines/build.sh --check: builds nothing; exits with 1 and a reason if CMake cannot build in these folders.
# Environment: RNNSEARCH_BUILD (folder, default build), RNNSEARCH_WERROR=ON (warnings are errors),
# RNNSEARCH_ASSERTIONS=ON (enables assert() and the assertions of libstdc++). CMake itself reads CC, CXX, CFLAGS,
# CXXFLAGS and LDFLAGS when it configures a build folder for the first time, and CMAKE_PREFIX_PATH each time it looks for a library.
set -euo pipefail
CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

build=$(realpath -m -- "${RNNSEARCH_BUILD:-build}")
usable() { # FOLDER ADVICE
  [[ $1 != *[][:cntrl:]\"\\\;\<\>\|[]* ]] && return
  echo "build: CMake cannot build in ${1@Q}, because of a line break or one of \" \\ ; < > [ ] | in its path; $2" >&2
  exit 1
}
usable "$PWD" "move the project to another folder"
usable "$build" "name another folder in RNNSEARCH_BUILD"
[[ ${1:-} != --check ]] || exit 0
targets=()
while (($# > 0)) && [[ $1 != -- ]]; do
  targets+=("$1")
  shift
done
mkdir -p "$build"
log=$build/build.log
show_progress() { # of the output that it reads, and adds to the log: a line that changes on a terminal, otherwise a line for each tenth
  local line step steps text tenth='' first='' start
  while IFS= read -r line; do
    echo "$line" >>"$log"
    [[ $line =~ ^\[\ *([1-9][0-9]*)(%|/([0-9]+))\] ]] || continue # Ninja writes [34/340], make [ 10%]
    step=${BASH_REMATCH[1]} steps=${BASH_REMATCH[3]:-100}
    [[ -n $first ]] || first=$step start=$SECONDS
    text="[build] $step of $steps"
    ((step == first)) || text+=", about $((((SECONDS - start) * (steps - step) / (step - first) + 59) / 60)) min left"
    if [[ -t 1 ]]; then
      printf '\r%s\e[K' "$text"
    elif [[ $tenth != $((10 * step / steps)) ]]; then
      tenth=$((10 * step / steps))
      echo "$text"
    fi
  done
  [[ ! -t 1 ]] || printf '\r\e[K'
}
logged() {
  "$@" 2>&1 | show_progress && return
  tail -n 60 "$log" >&2
  echo "build: '$*' failed (the last lines of its output are above, all of it is in $log)" >&2
  exit 1
}
: >"$log"
if [[ ! -e $build/CMakeCache.txt ]]; then
  echo "[build] the first build takes minutes; its output is in $log"
  # A build folder keeps its generator. Without Ninja it is CMake's default, make.
  if type ninja >/dev/null 2>&1; then export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}; fi
fi
logged cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DRNNSEARCH_WERROR="${RNNSEARCH_WERROR:-OFF}" \
  -DRNNSEARCH_ASSERTIONS="${RNNSEARCH_ASSERTIONS:-OFF}" "${@:2}"
CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)} logged cmake --build "$build" --target "${targets[@]:-rnnsearch}"
