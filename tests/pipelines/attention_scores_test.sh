#!/usr/bin/env bash
# pipelines/attention-scores/run.sh from a text without dev and test sets to the page: it trains every score of the program, and none;
# nothing is done twice, and another text is rejected.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
tiny=(-- --max-updates 12 --validate-every 4 --checkpoint-every 4 --embedding 8 --state 8 --encoder-state 4 --alignment 8 --maxout 4)

# Parallel text of all lengths to 70: numbers, and their doubles in reverse.
perl -e 'srand 1; for my $i (1 .. 700) { my @n = map { int rand 30 } 1 .. 1 + $i % 70;
  print "@n\t", join(" ", map { 2 * $_ } reverse @n), "\n" }' >both
cut -f1 both >text.en
cut -f2 both >text.fr
run() { # OPTIONS...
  "$SOURCE/pipelines/attention-scores/run.sh" --text text --words 30 --beam 2 --retry-below 0 --folder whole "$@" "${tiny[@]}"
}

run >whole.out 2>&1 || fail "$(tail -n 5 whole.out whole/*.out)"
# The scores, as the error for an unknown score lists them.
"$RNNSEARCH" train --attention nonsense --corpus whole/corpus.h5 --run no 2>refusal && fail "there is a score nonsense"
scores=$(sed -n 's/.*must be //p' refusal | sed 's/ or /, /; s/, /\n/g' | sort)
[[ $(grep -c . <<<"$scores") -ge 7 ]] || fail "the scores that there are: $(<refusal)"
[[ $(grep -v '^ *$' <<<"$scores" | paste -sd ' ') == "$(printf '%s\n' whole/*/log.jsonl | cut -d/ -f2 | sort | paste -sd ' ')" ]] ||
  fail "scores: $scores; runs: $(ls whole)"
for score in $scores; do
  grep -q "^| score |.* $score |" whole/table.md || fail "$score is not in the table: $(<whole/table.md)"
  # trained with this score, according to the run's record, not to the name of its folder
  grep -qx "attention = $score" "whole/$score/config.ini" || fail "$score was trained with $(grep attention "whole/$score/config.ini")"
  [[ $score == none ]] || [[ $(count "whole/looked-at.$score"/*.svg) == 4 ]] || fail "pictures of $score: $(ls "whole/looked-at.$score")"
done
[[ ! -e whole/looked-at.none ]] || fail "pictures of what does not look"
{ ! grep -q Difference whole/table.md && grep -q 'Difference: dot minus additive' whole/report.md; } || fail "table: $(<whole/table.md)"
{ grep -q '^over 60 ' whole/scores.txt && grep -q 'differs from additive' whole/scores.txt; } || fail "scores: $(<whole/scores.txt)"
grep -q scaled-dot whole/report.html || fail "the page does not name the scores"

touch stamp
run >again.out 2>&1 || fail "$(tail -n 5 again.out)"
made=$(find whole -newer stamp -type f ! -path 'whole/*/*' ! -name '*.out' ! -name beam ! -name made-with)
[[ -z $made ]] || fail "made twice: $made"

code=0
run --words 29 >other.out 2>&1 || code=$?
{ [[ $code == 1 ]] && grep -q 'give another --folder' other.out; } || fail "other words: code $code: $(<other.out)"
