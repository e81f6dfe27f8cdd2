#!/usr/bin/env bash
# tests/run.sh [--fast] [CTEST_ARGUMENT...]: installs what is missing, builds what is out of date, runs the tests.
# For instance tests/run.sh -R layering
#   --fast  only the entries labelled fast, and builds only what these run: no SLURM, Chromium, npm or root is needed
set -euo pipefail
CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if [[ ${1:-} == --fast ]]; then
  shift
  pipelines/install.sh
  pipelines/build.sh fast_tests -- -DBUILD_TESTING=ON
  set -- --label-regex '^fast$' "$@"
  export RNNSEARCH_ATTEMPTS=${RNNSEARCH_ATTEMPTS:-4} # number of random trainings that a test of train disturbs; without --fast it is 20
else
  pipelines/install.sh tests
  pipelines/build.sh all -- -DBUILD_TESTING=ON
fi
cd "${RNNSEARCH_BUILD:-build}"
# tests of several ranks or threads declare this to ctest, which then runs fewer tests at the same time
ctest --output-on-failure --no-tests=error -j "$(nproc)" "$@"
