#!/usr/bin/env bash
# An ensemble of other seeds and another system translates and scores: alike on any number of ranks and threads, and in batches of any
# size. One model given twice translates as that model. Models with other vocabularies are refused. So do samples, and translations that
# begin with prefixes.
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

# translate --sample and --prefix, of one model and of an ensemble: the same everywhere, with the scores that `score` finds. Prefixes stand in
# the translations as they were given, those of lines of JSON, too.
for _ in 1 2 3; do cut -d' ' -f1-2 text/dev.target; echo; done | sed '3s/.*/strange words/; 5s/.*//' >prefix

sample="--sample --n-best 3 --temperature 0.8 --top-k 8"
both="--model a --model b --ensemble-of logarithms"
for how in "--model a $sample" "$both $sample" "--model a --prefix prefix --beam 4" "$both --sample --prefix prefix"; do
  everywhere one $how
  expect_scores one 20 ${how%% --[sp]*}
  [[ $how != *--prefix* ]] || python3 - <<'PYTHON' || fail "$how: the prefixes"
import json
source, prefix = open("source").read().split("\n"), open("prefix").read().split("\n")
texts = [json.loads(line)["text"] for line in open("one")]
assert len(texts) == len(source) - 1
for line, text in enumerate(texts):
    words = prefix[line].split()
    assert (text.split()[:len(words)] == words) if source[line] else text == "", (line, text, words)
PYTHON
done

# Samples: of their seeds, of the line, and of their numbers.
translated samples --model a $sample
[[ $(wc -l <samples) == $((3 * $(grep -c . source) + $(grep -c '^$' source))) ]] || fail "not three samples of each line with words"
translated first --model a --sample --temperature 0.8 --top-k 8
grep '"rank":1,' samples | cmp - first || fail "the first sample depends on how many there are"
translated other --model a $sample --sampling-seed 2
! cmp -s samples other || fail "the seed changes nothing"
"$RNNSEARCH" translate --model a --stream --precision f32 --n-best-format json $sample <source 2>/dev/null | cmp - samples ||
  fail "a stream draws other samples"

# Lines of JSON have their own prefixes.
"$RNNSEARCH" translate --model a --precision f32 --input source --prefix prefix --output plain --beam 4 2>/dev/null
paste -d'|' source prefix | sed 's/\(.*\)|\(.*\)/{"source": "\1", "prefix": "\2"}/' |
  "$RNNSEARCH" translate --model a --precision f32 --stream --input-format json --beam 4 2>/dev/null |
  sed 's/^{"id":null,"translation":"\(.*\)"}$/\1/' | cmp - plain || fail "prefixes of JSON"

head -n 5 prefix >short
{ cat prefix && echo; } >long
refused 1 "--prefix short has 5 lines but source has more" "$RNNSEARCH" translate --input source --model a --prefix short
refused 1 "--prefix long has more than $(wc -l <source) lines but source has no more" "$RNNSEARCH" translate --input source --model a --prefix long
refused 1 "--prefix|from right to left" "$RNNSEARCH" translate --input source --model leftwards --prefix prefix
