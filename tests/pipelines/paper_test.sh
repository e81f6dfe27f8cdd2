#!/usr/bin/env bash
# pipelines/paper/run.sh from a text without dev and test sets to the page, with four tiny systems, of words and of subwords: all results
# exist, nothing is done twice, another text is rejected, and an interruption, also of ranks of mpirun, leaves checkpoints. Then the
# scripts of the folder, on inputs whose results are known.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
scripts=$SOURCE/pipelines/paper
paper=$scripts/run.sh
tiny=(-- --max-updates 12 --validate-every 4 --checkpoint-every 4 --embedding 8 --state 8 --alignment 8 --maxout 4)

# Parallel text of all lengths to 70: words, and their counterparts in reverse order. One word in fifty is not among the 27 most frequent
# ones, which with three special symbols are a vocabulary of 30.
perl -e 'srand 1; my @w = map { my $a = $_; map { "$a$_" } "a" .. "e" } "b" .. "i"; for my $i (1 .. 1400) { my @n = map { rand() < 0.02 ? 27 + int rand 13 : int rand 27 } 1 .. 1 + $i % 70;
  print join(" ", map { "s$w[$_]" } @n), "\t", join(" ", map { "t$w[$_]" } reverse @n), "\n" }' >both
cut -f1 both >text.en
cut -f2 both >text.fr
run() { # FOLDER OPTIONS...
  "$paper" --text text --units words --words 30 --beam 2 --retry-below 0 --folder "$@" "${tiny[@]}"
}

run whole >whole.out 2>&1 || fail "$(tail -n 5 whole.out whole/*.out)"
[[ $(wc -l <whole/held-out/test.en) -ge 200 && $(wc -l <whole/held-out/dev.en) -ge 50 ]] || fail "held out: $(wc -l whole/held-out/*)"
[[ $(grep -m 6 -E '^\| (RNN|Moses)' whole/table1.md | cut -d' ' -f2 | paste -sd ' ') == "RNNencdec-30 RNNsearch-30 RNNencdec-50 RNNsearch-50 RNNsearch-50\\* Moses" ]] ||
  fail "the order of Table 1: $(<whole/table1.md)"
grep -qE '^\| RNNsearch-50 \| ([0-9.]+ \[[0-9.]+, [0-9.]+\] \| ){4}26.75 \| 34.16 \|$' whole/table1.md || fail "Table 1: $(<whole/table1.md)"
grep -q '^| Moses | – | – | – | – | 33.30 | 35.63 |' whole/table1.md || fail "Table 1 without Moses: $(<whole/table1.md)"
grep -qE '^\| RNNencdec-30 \| 12 \| [0-9.]+ \| [0-9.]+ \| 1 rank of ' whole/table2.md || fail "Table 2: $(<whole/table2.md)"
grep -q '^| RNNsearch-50, published | 2.88e5 | 2.2 | 111 | Quadro K-6000 | 40.7 | 38.1 |' whole/table2.md || fail "Table 2: $(<whole/table2.md)"
grep -q '^over 60 ' whole/scores.txt || fail "Figure 2: $(<whole/scores.txt)"
{ grep -qE '^\| over 60 \| [0-9]+ (\| [0-9.]+ ){4}\|$' whole/difficulty.md && grep -qE '^\| all \| [0-9]+ (\| [0-9.]+ ){8}\|$' whole/difficulty.md; } ||
  fail "losses, and BLEU by sentence: $(<whole/difficulty.md)"
[[ $(count whole/figure3/*.svg) == 4 ]] || fail "Figure 3: $(ls whole/figure3)"
[[ $(grep -c '^\* RNNsearch-50: ' whole/long-sentences.md) == 4 ]] || fail "long sentences: $(<whole/long-sentences.md)"
for shown in 'Table 1' 'Table 2' 'Figure 2' '(d) Sentence' 'Long sentences' 'with the seed 1' RNNencdec-30; do
  grep -qF "$shown" whole/report.html || fail "the page has no $shown"
done
! grep -qE '<math|src="http|href="http' whole/report.html || fail "the page needs a network or MathML"
grep -q 'Table 2' whole/report.md || fail "the Markdown has no Table 2"
[[ -n $(ls whole/csv) ]] || fail "no CSV"
"$RNNSEARCH" inspect whole/corpus-30.h5 >thirty
"$RNNSEARCH" inspect whole/corpus-50.h5 >fifty
! cmp -s thirty fifty || fail "both corpora are the same"
# The paper's tokenizer, its order of the data, and translations that are ranked both ways.
grep -q '"tokenizer": "moses"' <<<"$("$RNNSEARCH" inspect whole/corpus-50.h5 --json -)" || fail "not tokenised as Moses does"
{ grep -qx 'shuffle = once' whole/rnnsearch-50/config.ini && grep -qx 'pool-batches = 20' whole/rnnsearch-50/config.ini &&
  grep -qx 'pool-batches = 10' whole/rnnencdec-30/config.ini; } || fail "the order of the data: $(<whole/rnnencdec-30/config.ini)"
"$RNNSEARCH" translate --model whole/rnnsearch-50 --input whole/held-out/test.en --beam 2 --retry-below 0 2>/dev/null | cmp - whole/test.rnnsearch-50.fr ||
  fail "Table 1's first column is not of the plain search"
"$RNNSEARCH" translate --model whole/rnnsearch-50 --input whole/held-out/test.en --beam 2 --retry-below 0 --normalize --no-unknown 2>/dev/null |
  cmp - whole/test.rnnsearch-50.no-unk.normalized.fr || fail "Table 1's last column is not of the normalised search without unknown words"

# A second call makes nothing again. (A finished training logs the call; the page is always made.)
rm whole/*/checkpoints/best # as in runs that never validated
touch stamp
run whole >again.out 2>&1 || fail "$(tail -n 5 again.out)"
made=$(find whole -newer stamp -type f \( -name '*.h5' -o -path 'whole/test.*' -o -path 'whole/scores*' -o -path 'whole/loss.*' -o -path '*/figure3*' \
  -o -path '*/held-out/*' \))
[[ -z $made ]] || fail "made twice: $made"

# Another text, other vocabularies or other units are rejected.
refused() { # FACT OPTIONS...
  local code=0
  run whole "${@:2}" >other.out 2>&1 || code=$?
  { [[ $code == 1 ]] && grep -q "whole was made with .*$1.*give another --folder" other.out; } || fail "${*:2}: $(<other.out)"
}
refused '--words 30.*--words 29' --words 29
refused '--units words.*--units subwords' --units subwords

# Subwords, with RNNsearch-50*.
run pieces --units subwords --pieces 300 --longer yes >pieces.out 2>&1 || fail "$(tail -n 5 pieces.out pieces/*.out)"
[[ $(grep -m 6 -cE '^\| RNN[a-z0-9*\\-]+ \| [0-9.]+ \[' pieces/table1.md) == 5 ]] || fail "Table 1 of subwords: $(<pieces/table1.md)"
grep -q '^max-updates = 23159$' pieces/rnnsearch-50-longer.ini || fail "RNNsearch-50*: $(<pieces/rnnsearch-50-longer.ini)"
! ls pieces/test.*.no-unk.* 2>/dev/null || fail "subwords were translated without unknown words"
known() { sed -n 's/^BLEU without unknown words *\([0-9,]*\).*/\1/p' "$1/scores.txt"; }
[[ -n $(known whole) && $(known whole) == "$(known pieces)" ]] || fail "No UNK are $(known pieces) sentences of subwords, $(known whole) of words"
longest=$(awk 'NF > most {most = NF} END {print most}' pieces/train-30.en pieces/train-30.fr)
[[ $longest == 30 ]] || fail "sentences of the corpus of at most 30 words have $longest"

# The mark is where a translation leaves its source; repeated words do not count as supported.
cat >place.pl <<'END'
use lib $ARGV[0];
use Paper qw(learn marked_place supported covered words_apart chosen words);
open my $en, ">", "dictionary.en"; open my $fr, ">", "dictionary.fr";
my @names = map { my $a = $_; map { "$a$_" } "a" .. "z" } "b" .. "e";
for my $i (0 .. 999) { my @of = map { ($i * 7 + $_ * 31) % @names } 0 .. 1; print $en "the ", join(" ", map { "eng$names[$_]" } @of), "\n"; print $fr "le ", join(" ", map { "fra$names[$_]" } @of), "\n" }
close $en; close $fr;
my $source = "the " . join " ", map { "eng$names[$_]" } 0 .. 9;
my @good = map { "fra$names[$_]" } 0 .. 9;
my $leaves = "le " . join " ", @good[0 .. 4], map { "fra$names[$_]" } 50 .. 55;
my $repeats = "le " . join " ", @good[0 .. 3], ($good[3]) x 5;
my $counts = learn("dictionary.en", "dictionary.fr", [$source, "le @good", $leaves, $repeats]);
my ($kept, $rest) = words_apart($leaves, marked_place($counts, $source, $leaves));
print join("|", marked_place($counts, $source, "le @good"), marked_place($counts, $source, $leaves), marked_place($counts, $source, $repeats), $kept,
  scalar(grep { $_ > 0 } covered($counts, $source, $leaves)), scalar(() = words("l'homme qu'il a vu, aujourd-hui."))), "\n";
print join(" ", chosen(5, 3, 1 .. 100)) eq join(" ", chosen(5, 3, 1 .. 100)) ? "same\n" : "other\n";
END
perl place.pl "$scripts" >place.out
[[ $(<place.out) == "11|6|5|le fraba frabb frabc frabd frabe|5|9"$'\n'same ]] || fail "places: $(<place.out)"

# A line comes apart into its sentences, and together again, also an empty line.
printf '%s\n' 'It has v. 2.5, e.g. Of it. "Really?" (Yes!) Three more. end' '' 'One.' 'Où? À Paris.' >lines.en
perl "$scripts/by_sentence.pl" apart lines.en lines.apart
[[ $(paste -sd '|' lines.apart) == 'It has v. 2.5, e.g. Of it.|"Really?"|(Yes!)|Three more. end||One.|Où?|À Paris.' ]] || fail "sentences: $(<lines.apart)"
perl "$scripts/by_sentence.pl" together lines.en lines.apart lines.together
cmp lines.en lines.together || fail "sentences came together otherwise"
! (head -n 7 lines.apart >short && perl "$scripts/by_sentence.pl" together lines.en short lines.together) 2>short.err || fail "too few sentences"
grep -q 'short has fewer lines than lines.en has sentences' short.err || fail "too few sentences: $(<short.err)"

# Figure 3: (a) is any sentence, (b) to (d) have 10 to 20 words and no unknown words, all drawn with the seed.
cat >chosen.pl <<'END'
use JSON::PP;
my $row = {sentences => 1};
print encode_json({format => "rnnsearch-evaluation", systems => [], sentences => [map {
  {line => $_, source => join(" ", ("word") x ($_ % 50 + 1)), unknown_share => $_ % 3 ? 0.1 : 0} } 1 .. 300]});
END
perl chosen.pl >chosen.json
for seed in 1 2; do
  perl "$scripts/figure3.pl" $seed chosen.json >chosen.$seed
  perl "$scripts/figure3.pl" $seed chosen.json | cmp - chosen.$seed || fail "a seed drew twice"
  tr , '\n' <chosen.$seed | awk '{n = $1 % 50 + 1; if (n >= 10 && n <= 20 && $1 % 3 == 0) ++known; if (n < 10 || n > 40) exit 1} END {exit !(NR == 4 && known >= 3)}' ||
    fail "Figure 3 shows the lines $(<chosen.$seed)"
done
! cmp -s chosen.1 chosen.2 || fail "two seeds drew the same"

# An interruption of a training is reported, with exit code 85. (tests/train checks that a resumed training has the same bits.)
for launch in local mpirun; do
  (tiny=(-- --max-updates "$endless" --validate-every 400 "${tiny[@]:5}") && exec "$paper" --text text --units words --words 30 --launch $launch --folder cut "${tiny[@]}") >cut.out 2>&1 &
  terminated $! cut/rnnsearch-50 2
  [[ $code == 85 ]] || fail "$launch, TERM: code $code: $(<cut.out)"
  [[ -s $(last_checkpoint cut/rnnsearch-50) ]] || fail "$launch, TERM: no checkpoint"
  rm -rf cut
done
