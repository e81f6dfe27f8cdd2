#!/usr/bin/env bash
# tests/run.sh [CTEST_ARGUMENT...]: installs what is missing, builds what is out of date, runs the tests.
# For instance tests/run.sh -R layering
set -euo pipefail
CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

pipelines/install.sh tests
pipelines/build.sh all
cd "${RNNSEARCH_BUILD:-build}"
# a test that runs several ranks or threads says so to ctest, which then runs fewer beside it
ctest --output-on-failure --no-tests=error -j "$(nproc)" "$@"
