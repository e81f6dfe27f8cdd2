#!/usr/bin/env bash
# data/reversal.sh: targets are reversed sources, dev and test are held out, lengths are within bounds, the output is deterministic, and
# wrong options are rejected.
set -euo pipefail
reversal=$SOURCE/data/reversal.sh
source "$SOURCE/tests/support/shell.sh"

small=(--vocabulary 5 --min-length 2 --max-length 6 --train 300 --dev 40 --test 60)
"$reversal" first "${small[@]}"
"$reversal" second "${small[@]}"
diff -r first second || fail "the same options gave other bytes"
"$reversal" other "${small[@]}" --seed 2
! cmp -s first/train.source other/train.source || fail "another seed gave the same bytes"

for part in train:300 dev:40 test:60; do
  pairs=${part#*:} part=${part%:*}
  paste "first/$part.source" "first/$part.target" | awk -F '\t' -v pairs="$pairs" -v part="$part" '
    {
      n = split($1, source, " "); m = split($2, target, " ")
      if (n != m || n < 2 || n > 6) exit bad = 1
      for (i = 1; i <= n; ++i) if (source[i] != target[n + 1 - i] || source[i] !~ /^[1-5]$/) exit bad = 1
      ++length_[n]
    }
    END {
      if (bad || NR != pairs) { print "line " NR ": " $0; exit 1 }
      for (n = 2; n <= 6; ++n) if (part == "train" && !length_[n]) { print "no sequence of length " n; exit 1 }
    }' || fail "$part is not $pairs reversed sequences of 2 to 6 words"
done
[[ -z $(sort first/{dev,test}.source | uniq -d) ]] || fail "dev and test share a sequence or repeat one"
[[ -z $(sort -u first/{dev,test}.source | comm -12 - <(sort -u first/train.source)) ]] ||
  fail "train holds a held-out source"

# the default lengths begin at 1, where there are only 20 sequences: training must keep some of them
"$reversal" default --train 2000
grep -qxE '[0-9]+' default/train.source || fail "train never sees a sequence of length 1"

touch -d '2001-01-01' first/train.source
"$reversal" first "${small[@]}"
[[ $(date -r first/train.source +%Y) == 2001 ]] || fail "a complete corpus was made again"

refused 1 "another folder" "$reversal" first "${small[@]}" --seed 3
refused 1 "unknown option '--sead'" "$reversal" new --sead 3
refused 1 "whole number, not 'x'" "$reversal" new --seed x
refused 1 "min-length 7" "$reversal" new --min-length 7 --max-length 6
refused 1 "too few sequences" "$reversal" new --vocabulary 2 --max-length 3
mkdir taken && touch taken/mine
refused 1 "something else" "$reversal" taken
