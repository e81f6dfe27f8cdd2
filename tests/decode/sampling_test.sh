#!/usr/bin/env bash
# translate --sample and --prefix: the same on any number of ranks and threads and in batches of any size, of one model and of an ensemble,
# with the scores that `score` finds. Prefixes stand in the translations as they were given, those of lines of JSON, too.
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
"$RNNSEARCH" $(train_arguments a 40) 2>/dev/null
"$RNNSEARCH" $(train_arguments b 40) --seed 7 2>/dev/null
for _ in 1 2 3; do cat text/dev.source; echo; done >source
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
"$RNNSEARCH" $(train_arguments leftwards 1) --target-direction right-to-left 2>/dev/null
refused 1 "--prefix|from right to left" "$RNNSEARCH" translate --input source --model leftwards --prefix prefix
