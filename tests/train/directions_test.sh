#!/usr/bin/env bash
# --reverse-source and --target-direction right-to-left: what is trained is, bit for bit, what a plain model learns from text whose words
# were reversed beforehand, and every command takes and gives text in its usual order. A killed run resumes with the same bits, and a
# run does not resume with another order.
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
# numbers and their doubles: neither side is the other reversed
mkdir text
perl -e 'srand 3; for my $set (["train", 600], ["dev", 16], ["test", 16]) {
  open my $source, ">", "text/$$set[0].source" or die; open my $target, ">", "text/$$set[0].target" or die;
  for (1 .. $$set[1]) {
    my @words = map { int rand 10 } 0 .. rand 7;
    print $source "@words\n"; print $target join(" ", (map { $_ + 10 } @words), $words[0]), "\n" } }'
turn() { perl -lne 'print join " ", reverse split / /' "$@"; }
for file in text/*; do turn "$file" >"$file.turned"; done

prepare() {  # CORPUS SOURCE_SUFFIX TARGET_SUFFIX
  "$RNNSEARCH" prepare --train-source "text/train.source$2" --train-target "text/train.target$3" --dev-source "text/dev.source$2" \
    --dev-target "text/dev.target$3" --tokenizer none --output "$1.h5" >/dev/null
}
prepare plain "" ""
prepare source .turned ""
prepare target "" .turned
train() { # RUN CORPUS UPDATES OPTION...
  "$RNNSEARCH" $(train_arguments "$1" "$3" | sed "s/corpus.h5/$2.h5/") "${@:4}" 2>"$1.log" || fail "$1: $(<"$1.log")"
}
expect_equal_parameters() { # RUN RUN
  h5diff "$(last_checkpoint "$1")" "$(last_checkpoint "$2")" /parameters /parameters || fail "the parameters of $1 and $2 differ"
  local losses='s/.*"loss_per_word":\([^,]*\),.*/\1/p'
  cmp <(sed -n "$losses" "$1/log.jsonl") <(sed -n "$losses" "$2/log.jsonl") || fail "the losses of $1 and $2, or of dev, differ"
}

# A reversed source, without attention. With attention the sums over source words have another order, which rounds otherwise.
sutskever="--attention none --encoder forward --cell lstm --layers 2 --initial-state final --source-start false"
train reversed plain 28 $sutskever --reverse-source
train by_hand source 28 $sutskever
expect_equal_parameters reversed by_hand
grep -q '^system .*, reversed source$' <<<"$("$RNNSEARCH" inspect reversed)" || fail "inspect does not name the order of the source"
for beam in 1 4; do
  "$RNNSEARCH" translate --model reversed --input text/test.source --beam $beam --n-best $beam >found
  "$RNNSEARCH" translate --model by_hand --input text/test.source.turned --beam $beam --n-best $beam | cmp - found ||
    fail "--reverse-source translates otherwise than a model of reversed text"
done
"$RNNSEARCH" score --model reversed --source text/test.source --target text/test.target >scores
"$RNNSEARCH" score --model by_hand --source text/test.source.turned --target text/test.target | cmp - scores ||
  fail "--reverse-source scores otherwise than a model of reversed text"

# The target from right to left, with attention.
train leftwards plain 28 --target-direction right-to-left
train turned_by_hand target 28
expect_equal_parameters leftwards turned_by_hand
grep -q '^system  *RNNsearch, right to left$' <<<"$("$RNNSEARCH" inspect leftwards)" || fail "inspect does not name the order of the target"
"$RNNSEARCH" translate --model leftwards --input text/test.source >found
"$RNNSEARCH" translate --model turned_by_hand --input text/test.source | turn | cmp - found || fail "translations from right to left"
"$RNNSEARCH" score --model leftwards --source text/test.source --target text/test.target >scores
"$RNNSEARCH" score --model turned_by_hand --source text/test.source --target text/test.target.turned | cmp - scores ||
  fail "scores from right to left"

# n-best lists: as probable as forced decoding says; translations that were cut off have no </s>, which score adds
"$RNNSEARCH" translate --model leftwards --input text/test.source --beam 4 --n-best 4 >found
awk -F ' [|][|][|] ' 'NR == FNR { source[FNR - 1] = $0; next } { print source[$1] >"forced.source"; print $2 >"forced.target" }' \
  text/test.source found
"$RNNSEARCH" score --model leftwards --source forced.source --target forced.target |
  paste - forced.source forced.target <(awk -F ' [|][|][|] ' '{ print $3 }' found) | awk -F '\t' '
    { d = $1 - $4; d = d < 0 ? -d : d; whole = split($3, b, " ") < 3 * (split($2, a, " ") + 1)
      if (whole) { ++n; worst = d > worst ? d : worst } }
    END { printf "%d translations, found and forced log-probabilities at most %.1e apart\n", n, worst; exit !(n > 40 && worst < 1e-4) }' ||
  fail "search and score of a model from right to left"

# Killed and resumed: the same bits. Another order is refused.
both="--reverse-source --target-direction right-to-left"
train whole plain 28 $both
train halves plain 14 $both
train halves plain 28 $both
expect_equal halves whole
refused() { # OPTION...
  if "$RNNSEARCH" $(train_arguments halves 30 | sed s/corpus.h5/plain.h5/) "$@" 2>refused.log; then fail "resuming with '$*' is not refused"; fi
  grep -q 'reverse-source\|target-direction' refused.log || fail "refused with '$*' without the option: $(<refused.log)"
}
refused --reverse-source
refused --target-direction right-to-left
