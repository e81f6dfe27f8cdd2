#!/usr/bin/env bash
# pipelines/quickstart/run.sh on a tiny text with tiny models: the table, the chart and the page are made, both systems get the
# same number of updates, and a second run makes nothing again.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"

# Parallel text of all lengths to 70: numbers, and their doubles in reverse order.
mkdir text
perl -e 'srand 1; for my $i (1 .. 1400) { my @n = map { int rand 30 } 1 .. 1 + $i % 70;
  print "@n\t", join(" ", map { 2 * $_ } reverse @n), "\n" }' >both
for part in train:1:1000 dev:1001:1100 test:1101:1400; do
  IFS=: read -r name first last <<<"$part"
  sed -n "${first},${last}p" both | cut -f1 >"text/$name.en"
  sed -n "${first},${last}p" both | cut -f2 >"text/$name.fr"
done
run() {
  "$SOURCE/pipelines/quickstart/run.sh" --text text --folder work --max-minutes 30 --max-updates 7 --words 300 --beam 2 --retry-below 0 "$@" -- \
    --validate-every 3 --checkpoint-every 3 --log-every 1 --embedding 8 --state 8 --alignment 8 --maxout 8
}

run >first.out 2>&1 || fail "$(tail -n 20 first.out)"
for run in rnnsearch rnnencdec; do
  [[ $(last_checkpoint work/$run) == *update-00000007.h5 ]] || fail "$run: its last checkpoint is $(last_checkpoint work/$run)"
done
grep -q '^attention = additive$' work/rnnsearch/config.ini || fail "RNNsearch does not attend: $(<work/rnnsearch/config.ini)"
grep -q '^attention = none$' work/rnnencdec/config.ini || fail "RNNencdec attends: $(<work/rnnencdec/config.ini)"
differing=$({ diff work/rnnsearch/config.ini work/rnnencdec/config.ini || true; } | grep '^[<>]' | grep -v ' max-minutes = ' | cut -d' ' -f2 | sort -u | paste -sd ' ')
[[ $differing == attention ]] || fail "the two systems differ in: $differing"
{ grep -q '^over 60 .*\[' work/bleu.txt && grep -q RNNencdec work/bleu.txt; } || fail "the table: $(<work/bleu.txt)"
for name in 'source   ' reference; do
  [[ $(grep -c "^$name  [0-9]" first.out) == 6 ]] || fail "not three sentences with their $name, first and at the end: $(<first.out)"
done
[[ $(grep -c '^</s>' first.out) == 2 ]] || fail "no attention was drawn: $(<first.out)"
! grep -qvxFf first.out work/bleu.txt || fail "the table was not printed: $(<first.out)"
grep -q RNNencdec work/report.html || fail "the page does not name both systems"
{ [[ $(count work/looked-at/*.svg) == 3 ]] && [[ $(grep -o 'aria-label="[^"]*rnnsearch, Sentence ' work/report.html | wc -l) == 3 ]]; } ||
  fail "the page has no attention of the three sentences: $(ls work)"

touch stamp
run >second.out 2>&1 || fail "$(tail -n 20 second.out)"
! grep -q 'training goes on' second.out || fail "the first sentences once more: $(<second.out)"
made=$(find work -newer stamp -type f \( -name '*.h5' -o -name 'test.*' \))
[[ -z $made ]] || fail "made twice: $made"

run --recipe fast --folder fast >fast.out 2>&1 || fail "$(tail -n 20 fast.out)"
[[ $(cat fast/rnn*/config.ini | grep -E '^(dropout|guided-alignment) = ' | sort | uniq -c | paste -sd ' ' | tr -s ' ') == \
  " 2 dropout = 0:0.1@4000 1 guided-alignment = 0 1 guided-alignment = 1:0@4000" ]] || fail "the fast recipe: $(cat fast/rnn*/config.ini)"
