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

# translated NAME OPTIONS...: writes a list to NAME
translated() {
  "$RNNSEARCH" translate --input source --output "$1" --precision f32 --n-best-format json "${@:2}" 2>err || fail "$1: $(<err)"
}
# check_scores MODELS LIST: forced decoding of what has ended has its log-probabilities
check_scores() {
  pairs_of "$2"
  (($(wc -l <pairs) > 20)) || fail "$2: only $(wc -l <pairs) translations ended"
  "$RNNSEARCH" score $1 --source pairs --target pairs.target --precision f32 --threads 1 >scores
  paste scores expected | awk '{d = $1 - $2; if (d < -1e-4 || d > 1e-4) {print "score: " $1 ", translate: " $2; bad = 1}}
    END {exit bad}' || fail "$2: score does not agree with translate"
}

sample="--sample --n-best 3 --temperature 0.8 --top-k 8"
for models in "--model a" "--model a --model b --ensemble-of logarithms"; do
  for how in "$sample" "--prefix prefix --beam 4" "--sample --prefix prefix"; do
    translated one $models $how --threads 1
    check_scores "$models" one
    translated again $models $how --threads 2 --batch-sentences 5
    cmp one again || fail "$models $how: two threads, or batches of 5, find something else"
    "$MPIEXEC" -n 3 "$RNNSEARCH" translate --input source --output of-ranks --precision f32 --n-best-format json --threads 1 \
      $models $how 2>err || fail "$models $how, three ranks: $(<err)"
    cmp one of-ranks || fail "$models $how: three ranks find something else"
    [[ $how != *--prefix* ]] || python3 - <<'PYTHON' || fail "$models $how: the prefixes"
import json
source, prefix = open("source").read().split("\n"), open("prefix").read().split("\n")
texts = [json.loads(line)["text"] for line in open("one")]
assert len(texts) == len(source) - 1
for line, text in enumerate(texts):
    words = prefix[line].split()
    assert (text.split()[:len(words)] == words) if source[line] else text == "", (line, text, words)
PYTHON
  done
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
translated greedy --model a --beam 1 --retry-below 0
translated most-probable --model a --sample --top-k 1
cmp greedy most-probable || fail "samples of the most probable word are not greedy search"

# Lines of JSON have their own prefixes.
"$RNNSEARCH" translate --model a --precision f32 --input source --prefix prefix --output plain --beam 4 2>/dev/null
paste -d'|' source prefix | sed 's/\(.*\)|\(.*\)/{"source": "\1", "prefix": "\2"}/' |
  "$RNNSEARCH" translate --model a --precision f32 --stream --input-format json --beam 4 2>/dev/null |
  sed 's/^{"id":null,"translation":"\(.*\)"}$/\1/' | cmp - plain || fail "prefixes of JSON"

translate=("$RNNSEARCH" translate --input source)
head -n 5 prefix >short
{ cat prefix && echo; } >long
refused 1 "--prefix short has 5 lines but source has more" "${translate[@]}" --model a --prefix short
refused 1 "--prefix long has more than $(wc -l <source) lines but source has no more" "${translate[@]}" --model a --prefix long
"$RNNSEARCH" $(train_arguments leftwards 1) --target-direction right-to-left 2>/dev/null
refused 1 "--prefix|from right to left" "${translate[@]}" --model leftwards --prefix prefix
