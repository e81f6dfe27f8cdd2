#!/usr/bin/env bash
# An ensemble of other seeds and another system translates and scores: alike on any number of ranks and threads, and in batches of any
# size. One model given twice translates as that model. Models with other vocabularies, and weights that are none, are refused.
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
"$RNNSEARCH" $(train_arguments a 40) 2>/dev/null
"$RNNSEARCH" $(train_arguments b 40) --seed 7 2>/dev/null
"$RNNSEARCH" $(train_arguments c 40) --seed 8 --attention none 2>/dev/null
for _ in 1 2 3; do cat text/dev.source; echo; done >source

# translated NAME OPTIONS...
translated() {
  "$RNNSEARCH" translate --input source --output "$1" --precision f32 --beam 4 --n-best 3 --n-best-format json "${@:2}" 2>err ||
    fail "$1: $(<err)"
}
search="--length-penalty 0.8 --coverage-penalty 0.2"
for of in probabilities logarithms; do
  ensemble="--model a --model b --model c --ensemble-of $of --model-weight 1 --model-weight 2 --model-weight 0.5"
  translated one-$of $ensemble $search --threads 1
  translated again $ensemble $search --threads 2 --batch-sentences 5
  cmp one-$of again || fail "$of: two threads, or batches of 5, find something else"
  "$MPIEXEC" -n 3 "$RNNSEARCH" translate --input source --output of-ranks --precision f32 --beam 4 --n-best 3 \
    --n-best-format json $ensemble $search --threads 1 2>err || fail "$of, three ranks: $(<err)"
  cmp one-$of of-ranks || fail "$of: three ranks find something else"
  translated weightless --model a --model b --model c --ensemble-of $of $search
  ! cmp -s one-$of weightless || fail "$of: the weights change nothing"

  # Forced decoding of what was found has its scores, on any number of ranks.
  pairs_of one-$of
  (($(wc -l <pairs) > 50)) || fail "$of: only $(wc -l <pairs) translations ended"
  "$RNNSEARCH" score $ensemble --source pairs --target pairs.target --precision f32 --threads 1 >scores
  "$MPIEXEC" -n 3 "$RNNSEARCH" score $ensemble --source pairs --target pairs.target --precision f32 --threads 1 2>/dev/null |
    cmp - scores || fail "$of: three ranks score otherwise than one"
  paste scores expected | awk '{d = $1 - $2; if (d < -1e-4 || d > 1e-4) {print "score: " $1 ", translate: " $2; bad = 1}}
    END {exit bad}' || fail "$of: score does not agree with translate"
done
! cmp -s one-probabilities one-logarithms || fail "the two averages are the same"
translated alone --model a
translated twice --model a --model a --model-weight 3 --model-weight 4
diff <(sed 's/"word_scores.*//; s/-\{0,1\}[0-9]*\.[0-9e-]*/X/g' alone) <(sed 's/"word_scores.*//; s/-\{0,1\}[0-9]*\.[0-9e-]*/X/g' twice) ||
  fail "a model with itself translates otherwise than alone"

# Corpora with other vocabularies: a smaller target side, another word on the source side, another tokenizer.
tiny="--max-updates 2 --embedding 8 --state 8 --alignment 8 --maxout 8 --batch-sentences 8 --checkpoint-minutes 0 --threads 1"
other() { # NAME PREPARE-OPTIONS...
  "$RNNSEARCH" prepare --train-source $1.source --train-target $1.target --output $1.h5 "${@:2}" >/dev/null
  "$RNNSEARCH" train --corpus $1.h5 --run $1 $tiny 2>/dev/null
}
cp text/train.source small.source && cp text/train.target small.target
other small --tokenizer none --target-words 8
sed 's/\<1\>/one/g' text/train.source >word.source && cp text/train.target word.target
other word --tokenizer none
cp text/train.source tokens.source && cp text/train.target tokens.target
other tokens
"$RNNSEARCH" $(train_arguments leftwards 1) --target-direction right-to-left 2>/dev/null
translate=(translate --input source --model a)
refused 1 "missing" "$RNNSEARCH" "${translate[@]}" --model missing
refused 1 "small has another target vocabulary|8 words" "$RNNSEARCH" "${translate[@]}" --model b --model small
refused 1 "--model a|word has another source vocabulary|'one'" "$MPIEXEC" -n 2 "$RNNSEARCH" "${translate[@]}" --model word
refused 1 "tokens splits text into words differently" "$RNNSEARCH" score --model a --model tokens --source source --target source
refused 1 "leftwards and --model a|left to right, the other from right to left" "$RNNSEARCH" "${translate[@]}" --model leftwards
