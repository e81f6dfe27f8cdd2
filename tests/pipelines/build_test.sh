#!/usr/bin/env bash
# pipelines/build.sh shows how far the build is, ends with its error, and keeps all output in the log. A stub stands in for cmake.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
mkdir stubs
cat >stubs/cmake <<'STUB'
#!/bin/sh
case "$1" in --build) ;; *) echo "-- configured" && exit ;; esac
i=0
while [ $((i += 1)) -le 40 ]; do echo "[$i/40] Building $i"; done
[ ! -e "$RNNSEARCH_BUILD/../broken" ] || { echo "a.cpp: error" >&2 && exit 1; }
STUB
chmod +x stubs/cmake
export PATH=$PWD/stubs:$PATH RNNSEARCH_BUILD=$PWD/build

"$SOURCE/pipelines/build.sh" >said 2>&1 || fail "$(<said)"
diff - <(sed -n 's/^\[build\] \([0-9]* of 40\)\(, about [0-9]* min left\)\?$/\1/p' said) < <(printf '%s of 40\n' 1 4 8 12 16 20 24 28 32 36 40) ||
  fail "the steps that are shown, expected on the left: $(<said)"
[[ $(grep -c '^-- configured$\|^\[[0-9]*/40\] Building' build/build.log) == 41 ]] || fail "the log: $(<build/build.log)"

touch broken
if "$SOURCE/pipelines/build.sh" >said 2>&1; then fail "the build fails, and the script does not"; fi
grep -q '^a.cpp: error$' said || fail "the compiler's error is not shown: $(<said)"
script -qec "$SOURCE/pipelines/build.sh" typescript >said 2>&1 || true
grep -q $'\r\[build\] 40 of 40, about [0-9]* min left\e\[K' said || fail "on a terminal: $(cat -v said)"
