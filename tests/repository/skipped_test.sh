#!/usr/bin/env bash
# tests/skipped.sh names skipped entries of ctest and GoogleTest cases, and fails in continuous integration alone, for those that
# tests/may_skip.txt does not name. Every name in that list exists.
set -euo pipefail
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# show CODE LINE...: skipped.sh, with CI=$ci, ends with the code and prints these lines
show() {
  local expected=$1 code=0
  shift
  CI=${ci:-} bash "$SOURCE/tests/skipped.sh" build >out 2>err || code=$?
  [[ $code == "$expected" ]] || fail "code $code instead of $expected: $(cat out err)"
  diff <(printf '%s\n' "$@") out || fail "it prints something else (on the right)"
}
mkdir -p project build/Testing/Temporary
cat >project/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(skipping NONE)
enable_testing()
foreach(test cluster_lab_test one_test two)
  add_test(NAME ${test} COMMAND sh ${CMAKE_SOURCE_DIR}/${test}.sh)
  set_tests_properties(${test} PROPERTIES SKIP_RETURN_CODE 77)
endforeach()
CMAKE
for test in cluster_lab_test one_test two; do echo "echo skipped: before" >project/$test.sh; done
run_ctest() { ctest --test-dir build >/dev/null || fail "ctest fails"; }
cmake -S project -B build >/dev/null
run_ctest
[[ -z $(bash "$SOURCE/tests/skipped.sh" build) ]] || fail "nothing was skipped"

echo "echo 'skipped: no network here' >&2; exit 77" >project/cluster_lab_test.sh
printf 'echo "[  SKIPPED ] 1 test, listed below:"\necho "[  SKIPPED ] AmxTile.IsPackedForAsItReads"\n' >project/two.sh
run_ctest
ci=true show 0 '[skipped] cluster_lab: no network here' '[skipped] AmxTile.IsPackedForAsItReads: a case of the entry two'

echo "exit 77" >project/one_test.sh
echo 'echo "[  SKIPPED ] All/Other.Case/3"' >>project/two.sh
run_ctest
lines=('[skipped] cluster_lab: no network here' '[skipped] one: gives no reason; it is not in tests/may_skip.txt'
  '[skipped] All/Other.Case/3: a case of the entry two; it is not in tests/may_skip.txt'
  '[skipped] AmxTile.IsPackedForAsItReads: a case of the entry two')
show 0 "${lines[@]}"
ci=true show 1 "${lines[@]}"
grep -q 'does not name 2 of the tests' err || fail "no advice: $(<err)"

grep -v '^#' "$SOURCE/tests/may_skip.txt" | while read -r name reason; do
  [[ -n $reason ]] || fail "tests/may_skip.txt gives no reason for $name"
  if [[ $name == *.* ]]; then
    grep -rqE "TEST(_[FP])?\(${name%.*}, ${name#*.}\)" "$SOURCE/tests" --include='*.cpp' || fail "there is no case $name"
  else
    [[ -e $SOURCE/tests/${name/_//}_test.sh ]] || fail "tests/may_skip.txt: there is no script for $name"
  fi
done
