#!/usr/bin/env bash
# An ensemble of other seeds and another system translates and scores: alike on any number of ranks and threads, and in batches of any
# size. One model given twice translates as that model. Models with other vocabularies are refused.
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
"$RNNSEARCH" $(train_arguments a 40) 2>/dev/null
"$RNNSEARCH" $(train_arguments b 40) --seed 7 2>/dev/null
"$RNNSEARCH" $(train_arguments c 40) --seed 8 --attention none 2>/dev/null
for _ in 1 2 3; do cat text/dev.source; echo; done >source

search="--beam 4 --n-best 3 --length-penalty 0.8 --coverage-penalty 0.2"
for of in probabilities logarithms; do
  models="--model a --model b --model c --ensemble-of $of"
  weights="--model-weight 1 --model-weight 2 --model-weight 0.5"
  everywhere one-$of $models $weights $search
  translated weightless $models $search
  ! cmp -s one-$of weightless || fail "$of: the weights change nothing"
  expect_scores one-$of 50 $models $weights
done
! cmp -s one-probabilities one-logarithms || fail "the two averages are the same"
for models in "--model a" "--model a --model a --model-weight 3 --model-weight 4"; do
  translated list $models --beam 4 --n-best 3
  sed 's/"word_scores.*//; s/-\{0,1\}[0-9]*\.[0-9e-]*/X/g' list >"${models// /}"
done
cmp ./--model* || fail "a model with itself translates otherwise than alone"

# Corpora with other vocabularies: a smaller target side, another word on the source side, another tokenizer.
tiny="--max-updates 2 --embedding 8 --state 8 --alignment 8 --maxout 8 --batch-sentences 8 --checkpoint-minutes 0 --threads 1"
sed 's/\<1\>/one/g' text/train.source >word.source
while read -r name from options; do
  "$RNNSEARCH" prepare --train-source $from --train-target text/train.target --output $name.h5 $options >/dev/null
  "$RNNSEARCH" train --corpus $name.h5 --run $name $tiny 2>/dev/null
done <<'END'
small text/train.source --tokenizer none --target-words 8
word word.source --tokenizer none
tokens text/train.source
END
"$RNNSEARCH" $(train_arguments leftwards 1) --target-direction right-to-left 2>/dev/null
translate=(translate --input source --model a)
refused 1 "missing" "$RNNSEARCH" "${translate[@]}" --model missing
refused 1 "small has another target vocabulary|8 words" "$RNNSEARCH" "${translate[@]}" --model b --model small
refused 1 "--model a|word has another source vocabulary|'one'" "$MPIEXEC" -n 2 "$RNNSEARCH" "${translate[@]}" --model word
refused 1 "tokens splits text into words differently" "$RNNSEARCH" score --model a --model tokens --source source --target source
refused 1 "leftwards and --model a|left to right, the other from right to left" "$RNNSEARCH" "${translate[@]}" --model leftwards
