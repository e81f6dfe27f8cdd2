#!/usr/bin/env bash
# tests/sanitize.sh address|thread [-O0] [--modules MODULE,...] [CTEST_ARGUMENT...]: builds tests with a sanitizer and assertions in a folder of
# their own (build/address, build/thread), and runs them.
#   address  AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer: the unit tests of all modules and their MPI tests, the
#            fuzzers' seeds, and the end-to-end script cli_reversal_test
#   thread   ThreadSanitizer: the unit and MPI tests of kernels, comm, corpus and train
#   -O0      builds without optimisation: for tests that compute little, because with the sanitizers of address GCC 12 takes two to three
#            times as long to optimise
#   --modules  builds and runs the unit and MPI tests of these modules only, such as base,comm; what .ci/run does
# For instance tests/sanitize.sh thread -R '^comm'. A finding fails its test; tests/sanitizers/*.txt suppresses findings in libraries.
set -euo pipefail
CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

lane=${1:-}
shift $(($# > 0))
optimization=-O1 # is quick enough to test and to build
if [[ ${1:-} == -O0 ]]; then
  optimization=$1
  shift
fi
modules=
if [[ ${1:-} == --modules ]]; then
  modules=${2:?"sanitize.sh: --modules needs a list such as base,comm"}
  shift 2
fi
case $lane in
  address)
    sanitizers=address,undefined
    targets=(rnnsearch unit_tests unit_mpi_tests)
    tests="^($(printf '%s\n' src/*/ | cut -d/ -f2 | paste -sd '|'))(_double)?\$" # the entries of each module
    # One number of ranks is enough, because memory errors do not depend on it.
    worlds=3
    mpi_tests="_mpi_$worlds\$|^cli_reversal_test\$"
    ;;
  thread)
    sanitizers=thread
    targets=({kernels,comm,corpus,train}_test {comm,train}_mpi_test)
    tests='^(kernels|comm|corpus|train)$'
    worlds='[23]'
    mpi_tests="^(comm|train)_mpi_$worlds\$"
    ;;
  *)
    echo "sanitize.sh: say which: tests/sanitize.sh address|thread [-O0] [--modules MODULE,...] [CTEST_ARGUMENT...]" >&2
    exit 2
    ;;
esac
if [[ -n $modules ]]; then
  targets=()
  for module in ${modules//,/ }; do
    [[ -d src/$module ]] || { echo "sanitize.sh: there is no module $module in src" >&2 && exit 2; }
    targets+=("${module}_test")
    [[ ! $module =~ ^(kernels|layers|model)$ ]] || targets+=("${module}_double_test")
    ! compgen -G "tests/$module/*_mpi_test.cpp" >/dev/null || targets+=("${module}_mpi_test")
  done
  tests="^(${modules//,/|})(_double)?\$"
  mpi_tests="^(${modules//,/|})_mpi_$worlds\$"
fi

pipelines/install.sh tests
build=${RNNSEARCH_BUILD:-build}/$lane
mkdir -p "$build"
# Debug, because Release would define NDEBUG. Warnings are no errors here: with a sanitizer, gcc 12 takes
# members of std::regex for uninitialized.
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="$optimization" \
  -DCMAKE_CXX_FLAGS_DEBUG="$optimization" \
  -DBUILD_TESTING=ON -DRNNSEARCH_SANITIZE=$sanitizers -DRNNSEARCH_WERROR=OFF -DRNNSEARCH_PRECOMPILE=OFF >"$build/configure.log"
ninja -C "$build" "${targets[@]}" >"$build/build.log" || { tail -n 60 "$build/build.log" >&2 && exit 1; }

lists=$PWD/tests/sanitizers
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1
export LSAN_OPTIONS=suppressions=$lists/leaks.txt:print_suppressions=0
export UBSAN_OPTIONS=print_stacktrace=1
# Copies within libraries are not checked: libraries are not instrumented, so ThreadSanitizer does not see the locks that order them.
export TSAN_OPTIONS=suppressions=$lists/races.txt:second_deadlock_stack=1:ignore_noninstrumented_modules=1
cd "$build"
failed=0 found=0
# run TESTS [CTEST_ARGUMENT...]: runs these tests. Those of a module may be of one kind only: ctest is not started for the other kind, because
# it says that no tests were found.
run() {
  [[ $(ctest -N -R "$@") != *"Total Tests: 0"* ]] || return 0
  found=1
  ctest --output-on-failure -j "$(nproc)" -R "$@" || failed=1
}
run "$tests" "$@"
# Open MPI keeps memory to the end in modules that it unloads before, so that no suppression can name them.
ASAN_OPTIONS+=:detect_leaks=0
run "$mpi_tests" "$@"
((found)) || { echo "sanitize.sh: no test matches: $*" >&2 && exit 1; }
exit $failed
