#!/usr/bin/env bash
# tests/run.sh [--fast|--all] [CTEST_ARGUMENT...]: installs what is missing, builds what is out of date, runs the tests.
# For instance tests/run.sh -R layering
#   --fast  only the entries labelled fast, and builds only what these run: no SLURM, Chromium, npm or root is needed
#   --all   also the long cases of entries that have some, before a release: 150 disturbed trainings in place of 6, all cases on SLURM,
#           the whole matrix of hashes
set -euo pipefail
CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if [[ ${1:-} == --fast ]]; then
  shift
  pipelines/install.sh fast-tests
  pipelines/build.sh fast_tests -- -DBUILD_TESTING=ON
  set -- --label-regex '^fast$' "$@"
else
  if [[ ${1:-} == --all ]]; then
    shift
    export RNNSEARCH_TEST_LONG=1 RNNSEARCH_ATTEMPTS=${RNNSEARCH_ATTEMPTS:-150}
  fi
  pipelines/install.sh tests
  pipelines/build.sh all -- -DBUILD_TESTING=ON
fi
cd "${RNNSEARCH_BUILD:-build}"
# Tests of several ranks or threads declare this to ctest, which then runs fewer tests at the same time. One more than there are
# processors, because some tests mostly wait.
ctest --output-on-failure --no-tests=error -j "$(($(nproc) + 1))" "$@"
