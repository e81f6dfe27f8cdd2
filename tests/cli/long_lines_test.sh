#!/usr/bin/env bash
# The commands take time proportional to the length of a line of text, whatever it contains: four times the length takes at most
# 5.3 times the instructions (sorting takes somewhat more than four times), where quadratic time would take sixteen times.
set -euo pipefail
long_lines=$(dirname "$RNNSEARCH")/tests/long_lines
if ! command -v valgrind >/dev/null || [[ ! -x $long_lines ]]; then
  echo "skipped: valgrind is not installed" >&2
  exit 77
fi

valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=profile "$long_lines" 1024 4096 >log 2>&1 ||
  { cat log; exit 1; }
awk '
  /^desc: Trigger: Client Request: / { name = $5 " " $6; bytes = $7 }
  /^summary: / {
    if (!(name in first)) { first[name] = bytes; cost[name] = $2; next }
    if (bytes < first[name]) { ratio = cost[name] / $2 } else { ratio = $2 / cost[name] }
    ++compared
    if (ratio > 5.3) { print name ": four times the length takes " ratio " times the instructions"; bad = 1 }
  }
  END {
    if (compared < 500) { print "only " compared + 0 " pairs of profiles were found"; bad = 1 }
    exit bad
  }' profile.*
