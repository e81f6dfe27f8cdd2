#!/usr/bin/env bash
# tests/fuzz/run.sh [SECONDS [READER...]]: builds the fuzzers with clang (Debian's clang-14) and runs each for so many
# seconds (10), or those named: text, test_set, vocabulary, corpus, checkpoint, config. What it learns stays in
# build-fuzz/corpus, from which the next run goes on. A finding ends it with the name of its input, which belongs, once
# mended, into tests/fuzz/seeds/READER: the test fuzz_READER runs those in every build. README.md says what was found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

seconds=${1:-10}
[[ $seconds =~ ^[0-9]+$ ]] || {
  echo "run.sh: '$seconds' is not a number of seconds; tests/fuzz/run.sh [SECONDS [READER...]]" >&2
  exit 1
}
shift $(($# > 0))
readers=("$@")
[[ $# -gt 0 ]] || readers=(text test_set vocabulary corpus checkpoint config)
command -v clang++-14 >/dev/null || {
  echo "run.sh: there is no clang++-14; on Debian: apt-get install clang-14" >&2
  exit 1
}

build=${RNNSEARCH_FUZZ_BUILD:-build-fuzz}
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang-14 \
  -DCMAKE_CXX_COMPILER=clang++-14 -DRNNSEARCH_FUZZ=ON -DRNNSEARCH_SANITIZE=address,undefined >/dev/null
ninja -C "$build" "${readers[@]/%/_fuzzer}"

folder=$PWD
TMPDIR=$(mktemp -d -p "$([[ -w /dev/shm ]] && echo /dev/shm || echo "${TMPDIR:-/tmp}")" rnnsearch-fuzz-XXXXXX)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$folder/tests/fuzz/leaks.txt:print_suppressions=0
for reader in "${readers[@]}"; do
  found=$build/found/$reader
  mkdir -p "$build/corpus/$reader" "$found"
  echo "[fuzz] $reader, $seconds s"
  # xz may take a gibibyte by its own header
  "$build/tests/${reader}_fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=3000 -malloc_limit_mb=1500 \
    -max_len=4000 -print_final_stats=1 -artifact_prefix="$found/" "$build/corpus/$reader" "tests/fuzz/seeds/$reader" \
    >"$build/$reader.log" 2>&1 || {
    grep -E 'finding:|ERROR|SUMMARY|runtime error|what\(\)' "$build/$reader.log" || tail -n 20 "$build/$reader.log"
    echo "[fuzz] $reader: the input is in $found, the rest in $build/$reader.log" >&2
    exit 1
  }
  grep -E 'DONE|number_of_executed_units' "$build/$reader.log"
done
