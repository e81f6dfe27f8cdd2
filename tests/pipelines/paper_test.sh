#!/usr/bin/env bash
# pipelines/paper/run.sh from a text without dev and test sets to the page, with four tiny systems: all that it promises is there,
# nothing is done twice, another text is refused, and an interruption, of ranks of mpirun too, leaves checkpoints.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
paper=$SOURCE/pipelines/paper/run.sh
tiny=(-- --max-updates 12 --validate-every 4 --checkpoint-every 4 --embedding 8 --state 8 --alignment 8 --maxout 4)

# Parallel text of all lengths to 70: numbers, and their doubles in reverse.
perl -e 'srand 1; for my $i (1 .. 1400) { my @n = map { int rand 30 } 1 .. 1 + $i % 70;
  print "@n\t", join(" ", map { 2 * $_ } reverse @n), "\n" }' >both
cut -f1 both >text.en
cut -f2 both >text.fr
run() { # FOLDER OPTIONS...
  "$paper" --text text --words 30 --beam 2 --folder "$@" "${tiny[@]}"
}

run whole >whole.out 2>&1 || fail "$(tail -n 5 whole.out whole/*.out)"
[[ $(wc -l <whole/held-out/test.en) -ge 200 && $(wc -l <whole/held-out/dev.en) -ge 50 ]] || fail "held out: $(wc -l whole/held-out/*)"
[[ $(grep -c '^| RNN' whole/table1.md) == 4 ]] || fail "Table 1: $(<whole/table1.md)"
[[ $(grep '^| RNN' whole/table1.md | cut -d' ' -f2 | paste -sd ' ') == "RNNencdec-30 RNNsearch-30 RNNencdec-50 RNNsearch-50" ]] ||
  fail "the order of Table 1: $(<whole/table1.md)"
grep -q '^over 60 ' whole/scores.txt || fail "Figure 2: $(<whole/scores.txt)"
[[ $(ls whole/figure3/*.svg | wc -l) == 4 ]] || fail "Figure 3: $(ls whole/figure3)"
grep -q RNNsearch-50 whole/report.html && grep -q RNNencdec-30 whole/report.md || fail "the page does not name the systems"
[[ -n $(ls whole/csv) ]] || fail "no CSV"
"$RNNSEARCH" inspect whole/corpus-30.h5 >thirty
"$RNNSEARCH" inspect whole/corpus-50.h5 >fifty
! cmp -s thirty fifty || fail "both corpora are the same"

# Again: nothing that was made is made anew. (A training that is done notes that it was asked again; the page is always made.)
rm whole/*/checkpoints/best # as in runs that never validated
touch stamp
run whole >again.out 2>&1 || fail "$(tail -n 5 again.out)"
made=$(find whole -newer stamp -type f \( -name '*.h5' -o -path 'whole/test.*' -o -path 'whole/scores*' -o -path '*/figure3*' \
  -o -path '*/held-out/*' \))
[[ -z $made ]] || fail "made twice: $made"

# Another text or other words are not what is there.
code=0
run whole --words 29 >other.out 2>&1 || code=$?
[[ $code == 1 ]] && grep -q 'whole was made with .*--words 30.*--words 29.*give another --folder' other.out || fail "other words: $(<other.out)"

# Interrupted while it trains: it says so, with code 85. (That it then goes on to the same bits, tests/train shows.)
for launch in local mpirun; do
  (tiny=(-- --max-updates $endless --validate-every 400 "${tiny[@]:5}") && exec "$paper" --text text --words 30 --launch $launch --folder cut "${tiny[@]}") >cut.out 2>&1 &
  job=$!
  while kill -0 $job 2>/dev/null; do
    [[ ! -e cut/rnnsearch-50/log.jsonl ]] || (($(grep -c '"update"' cut/rnnsearch-50/log.jsonl) < 2)) || break
    sleep 0.05
  done
  kill -TERM $job
  code=0
  wait $job || code=$?
  [[ $code == 85 ]] || fail "$launch, TERM: code $code: $(<cut.out)"
  [[ -s $(last_checkpoint cut/rnnsearch-50) ]] || fail "$launch, TERM: no checkpoint"
  rm -rf cut
done
