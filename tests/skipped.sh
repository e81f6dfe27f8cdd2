#!/usr/bin/env bash
# tests/skipped.sh FOLDER: names what the last run of ctest in this build folder skipped: entries, and GoogleTest cases in entries that
# passed. Fails if $CI is true and one of them is not in tests/may_skip.txt.
set -euo pipefail
log=${1:?the build folder}/Testing/Temporary
[[ -e $log/LastTest.log ]] || { echo "skipped.sh: run ctest first" >&2 && exit 1; }
skipped=$({
  sed 's/^[0-9]*://; s/_test$//' "$log/LastTestsDisabled.log" 2>/dev/null || true # ctest writes it when it has skipped an entry
  sed -n 's/^\[  SKIPPED \] \([A-Za-z0-9_/]*\.[A-Za-z0-9_/]*\).*/\1/p' "$log/LastTest.log"
} | sort -u)
unexpected=$(grep -vxFf <(awk '!/^#/ {print $1}' "$(dirname -- "${BASH_SOURCE[0]}")/may_skip.txt") <<<"$skipped" || true)
echo "skipped: ${skipped:-nothing}"
[[ ${CI:-} == true && -n $unexpected ]] || exit 0
echo "skipped.sh: make these run, or name them in tests/may_skip.txt with a reason: $unexpected" >&2
exit 1
