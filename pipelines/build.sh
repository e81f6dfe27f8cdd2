#!/usr/bin/env bash
# pipelines/build.sh [TARGET...]: configures and builds (Release) what is out of date; without TARGET the program alone.
# Environment: RNNSEARCH_BUILD (folder, default build), RNNSEARCH_WERROR=ON (warnings are errors).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${RNNSEARCH_BUILD:-build}
mkdir -p "$build"
log=$build/build.log
quietly() {
  "$@" >>"$log" 2>&1 && return
  tail -n 60 "$log" >&2
  echo "build: '$*' failed (its last lines are above, all of them in $PWD/$log)" >&2
  exit 1
}
: >"$log"
quietly cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DRNNSEARCH_WERROR="${RNNSEARCH_WERROR:-OFF}"
pending=$(ninja -C "$build" -n "${@:-rnnsearch}" | grep -c '^\[' || true)
if ((pending > 0)); then
  echo "[build] $pending steps, minutes the first time; follow them in $PWD/$log"
  quietly ninja -C "$build" "${@:-rnnsearch}"
fi
