#!/usr/bin/env bash
# --reverse-source and --target-direction right-to-left: what is trained is, bit for bit, what a plain model learns from text whose words
# were reversed beforehand, and every command takes and gives text in its usual order. An interrupted run resumes with the
# same bits.
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
"$RNNSEARCH" translate --model reversed --input text/test.source --beam 4 --n-best 4 >found
"$RNNSEARCH" translate --model by_hand --input text/test.source.turned --beam 4 --n-best 4 | cmp - found ||
  fail "--reverse-source translates otherwise than a model of reversed text"

# The target from right to left, with attention.
train leftwards plain 28 --target-direction right-to-left
train turned_by_hand target 28
expect_equal_parameters leftwards turned_by_hand
"$RNNSEARCH" translate --model leftwards --input text/test.source >found
"$RNNSEARCH" translate --model turned_by_hand --input text/test.source | turn | cmp - found || fail "translations from right to left"

# As probable as forced decoding says.
ln -s text/test.source source
translated found --model leftwards --beam 4 --n-best 4
expect_scores found 40 --model leftwards

# Interrupted and resumed: the same bits.
both="--reverse-source --target-direction right-to-left"
train whole plain 28 $both
train halves plain 14 $both
train halves plain 28 $both
expect_equal halves whole
