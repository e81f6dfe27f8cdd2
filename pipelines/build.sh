#!/usr/bin/env bash
# pipelines/build.sh [TARGET...]: configures and builds (Release) what is out of date; without TARGET the program alone.
# Environment: RNNSEARCH_BUILD (folder, default build), RNNSEARCH_WERROR=ON (warnings are errors).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=$(realpath -m "${RNNSEARCH_BUILD:-build}")
mkdir -p "$build"
log=$build/build.log
quietly() {
  "$@" >>"$log" 2>&1 && return
  tail -n 60 "$log" >&2
  echo "build: '$*' failed (its last lines are above, all of them in $log)" >&2
  exit 1
}
: >"$log"
[[ -e $build/build.ninja ]] || echo "[build] the first time takes minutes; follow it in $log"
quietly cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DRNNSEARCH_WERROR="${RNNSEARCH_WERROR:-OFF}"
quietly ninja -C "$build" "${@:-rnnsearch}"
