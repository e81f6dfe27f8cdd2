#!/usr/bin/env bash
# The commands take time proportional to the length of a line of text, whatever it contains: four times the length takes at most
# 5.3 times the instructions (sorting takes somewhat more than four times), where quadratic time would take sixteen times. With
# RNNSEARCH_TEST_LONG=1 also from 10 kB to 200 kB, for a few kinds of lines: the instructions per byte grow at most 1.3 times.
set -euo pipefail
long_lines=$(dirname "$RNNSEARCH")/tests/long_lines
if ! command -v valgrind >/dev/null || [[ ! -x $long_lines ]]; then
  echo "skipped: valgrind is not installed" >&2
  exit 77
fi

# MOST: the largest ratio of instructions per byte; PAIRS: at least so many profiles at two lengths
compare() {  # MOST PAIRS SHORTER LONGER [KINDS]
  rm -f profile.*
  valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=profile "$long_lines" "${@:3}" >log 2>&1 || { cat log; exit 1; }
  awk -v most="$1" -v pairs="$2" '
    /^desc: Trigger: Client Request: / { name = $5 " " $6; bytes = $7 }
    /^summary: / {
      each = $2 / bytes
      if (!(name in first)) { first[name] = bytes; cost[name] = each; next }
      ratio = bytes < first[name] ? cost[name] / each : each / cost[name]
      ++compared
      split(name, work, " ")
      if (ratio > worst[work[1]]) worst[work[1]] = ratio
      if (ratio > most) { print name ": a longer line takes " ratio " times the instructions for each byte"; bad = 1 }
    }
    END {
      for (name in worst) printf "%-16s %.2f\n", name, worst[name]
      if (compared < pairs) { print "only " compared + 0 " pairs of profiles were found"; bad = 1 }
      exit bad
    }' profile.*
}
compare 1.325 500 1024 4096
[[ -z ${RNNSEARCH_TEST_LONG:-} ]] || compare 1.3 60 10240 204800 words,numbers,Chinese
