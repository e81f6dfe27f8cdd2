#!/usr/bin/env bash
# Every text that tests/mutations.pl replaces occurs exactly once in its file. (tests/mutations.pl itself shows that a test fails for each
# mutation, which takes too long for a test.) The end of this script shows that the test can fail.
set -euo pipefail

"$SOURCE/tests/mutations.pl" --check

mkdir -p project/tests project/src
cp "$SOURCE/tests/mutations.pl" project/tests
must_find() { # MESSAGE LINE...: a table of these lines is refused with the message
  local message=$1 said
  shift
  printf '%s\n' "$@" >project/tests/mutations.txt
  if said=$(project/tests/mutations.pl --check) || [[ $said != *"$message"* ]]; then
    printf "a table should be refused with '%s' but gave:\n%s\n" "$message" "$said"
    exit 1
  fi
}
printf 'a = b;\nc = b;\n' >project/src/a.cpp
entry=('what: a' 'file: src/a.cpp' 'after:' 'test: a_test *')
must_find "'= b;' occurs 2 times" "${entry[@]}" 'before: = b;'
must_find "'d = b;' occurs 0 times" "${entry[@]}" 'before: d = b;'
must_find "an entry has no before" "${entry[@]}"
must_find "'a_test' names no test and filter" "${entry[@]::3}" 'before: a = b;' 'test: a_test'
must_find "'what' is no line" "${entry[@]}" 'before: a = b;' 'what'
must_find "an entry has two lines 'what:'" "${entry[@]}" 'before: a = b;' 'what: another entry'
