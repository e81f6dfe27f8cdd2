#!/usr/bin/env bash
# tests/fuzz/run.sh [--jobs N] [SECONDS [READER...]]: builds the fuzzers with clang (Debian's clang-14) and runs all of
# them, or the named ones, for SECONDS (10) each, N at a time (1; each may take 3 GB): text, vocabulary,
# subwords, corpus, checkpoint, alignment, n_best, lengths, report, command_line. Inputs of new coverage are kept in
# build-fuzz/corpus for the next run. A finding ends its reader and prints the name of the input. Once it is fixed, add the input to
# tests/fuzz/seeds/READER: the test fuzz_READER runs these inputs in every build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage='tests/fuzz/run.sh [--jobs N] [SECONDS [READER...]]'
jobs=1
if [[ ${1:-} == --jobs ]]; then
  jobs=${2:-}
  [[ $jobs =~ ^[1-9][0-9]*$ ]] || {
    echo "run.sh: '$jobs' is not a number of jobs; $usage" >&2
    exit 1
  }
  shift 2
fi
export seconds=${1:-10}
[[ $seconds =~ ^[0-9]+$ ]] || {
  echo "run.sh: '$seconds' is not a number of seconds; $usage" >&2
  exit 1
}
shift $(($# > 0))
readers=("$@")
[[ $# -gt 0 ]] || readers=(text vocabulary subwords corpus checkpoint alignment n_best lengths report
  command_line)
command -v clang++-14 >/dev/null || {
  echo "run.sh: there is no clang++-14; on Debian: apt-get install clang-14" >&2
  exit 1
}

export build=${RNNSEARCH_FUZZ_BUILD:-build-fuzz}
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang-14 \
  -DCMAKE_CXX_COMPILER=clang++-14 -DRNNSEARCH_FUZZ=ON -DRNNSEARCH_SANITIZE=address,undefined >/dev/null
ninja -C "$build" "${readers[@]/%/_fuzzer}"

TMPDIR=$(mktemp -d -p "$([[ -w /dev/shm ]] && echo /dev/shm || echo "${TMPDIR:-/tmp}")" rnnsearch-fuzz-XXXXXX)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
# The sanitizer keeps every new stack trace of an allocation for ever; whole ones take gigabytes in an hour.
export ASAN_OPTIONS=allocator_may_return_null=1:malloc_context_size=3 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/tests/fuzz/leaks.txt:print_suppressions=0

fuzz() {  # READER
  local reader=$1 found=$build/found/$1
  mkdir -p "$build/corpus/$reader" "$found"
  echo "[fuzz] $reader, $seconds s"
  # -malloc_limit_mb: by its header, xz may need a gibibyte
  "$build/tests/${reader}_fuzzer" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=3000 -malloc_limit_mb=1500 \
    -max_len=4000 -print_final_stats=1 -artifact_prefix="$found/" "$build/corpus/$reader" "tests/fuzz/seeds/$reader" \
    >"$build/$reader.log" 2>&1 || {
    grep -E 'finding:|ERROR|SUMMARY|runtime error|what\(\)' "$build/$reader.log" || tail -n 20 "$build/$reader.log"
    echo "[fuzz] $reader: the input is in $found, the rest in $build/$reader.log" >&2
    return 1
  }
  grep -E 'DONE|number_of_executed_units' "$build/$reader.log" | sed "s/^/[fuzz] $reader: /"
}
export -f fuzz
printf '%s\n' "${readers[@]}" | xargs -P "$jobs" -I{} bash -c 'fuzz {}' || exit 1
