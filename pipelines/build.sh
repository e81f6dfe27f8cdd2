#!/usr/bin/env bash
# pipelines/build.sh [TARGET...]: configures and builds (Release) what is out of date; without TARGET only the program.
# pipelines/build.sh --check: builds nothing; exits with 1 and a reason if CMake cannot build in these folders.
# Environment: RNNSEARCH_BUILD (folder, default build), RNNSEARCH_WERROR=ON (warnings are errors).
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
mkdir -p "$build"
log=$build/build.log
quietly() {
  "$@" >>"$log" 2>&1 && return
  tail -n 60 "$log" >&2
  echo "build: '$*' failed (the last lines of its output are above, all of it is in $log)" >&2
  exit 1
}
: >"$log"
[[ -e $build/build.ninja ]] || echo "[build] the first build takes minutes; its output is in $log"
quietly cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DRNNSEARCH_WERROR="${RNNSEARCH_WERROR:-OFF}"
quietly ninja -C "$build" "${@:-rnnsearch}"
