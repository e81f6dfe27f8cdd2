#!/usr/bin/env bash
# align --lexical-table and translate --shortlist: the table has the shares of the links; a shortlist of the whole vocabulary changes no
# byte; batches of any size, threads and ranks give the same bytes, of one model and of an ensemble; damaged tables are refused.
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
# Without </s> in the source every target word has a link.
"$RNNSEARCH" $(train_arguments a 150) --source-end false 2>/dev/null
"$RNNSEARCH" $(train_arguments b 40) --seed 7 2>/dev/null
for _ in 1 2 3; do cat text/dev.source; echo; done >source

# The table, on any number of ranks, against the links: words that are unknown to the model are <unk>.
{ cat text/train.source && echo "1 strange 2"; } >pairs.source
{ cat text/train.target && echo "2 odd 1"; } >pairs.target
"$RNNSEARCH" align --model a --source pairs.source --target pairs.target --pharaoh links --lexical-table lex --threads 1 2>/dev/null
python3 - <<'PYTHON' || fail "the table does not have the shares of the links"
from collections import Counter
read = lambda name: [line.split() for line in open(name)]
known = lambda word: word if word.isdigit() else "<unk>"
counts, sums = Counter(), Counter()
for source, target, links in zip(read("pairs.source"), read("pairs.target"), open("links")):
    for s, t in (map(int, link.split("-")) for link in links.split()):
        counts[known(target[t]), known(source[s])] += 1
        sums[known(source[s])] += 1
table = {(t, s): float(p) for t, s, p in read("lex")}
assert set(table) == set(counts) and len(table) > 10, (table, counts)
assert any("<unk>" in pair for pair in table)
for (t, s), p in table.items():
    assert abs(p - counts[t, s] / sums[s]) < 1e-6, (t, s, p)
PYTHON
"$MPIEXEC" -n 3 "$RNNSEARCH" align --model a --source pairs.source --target pairs.target --lexical-table of-ranks --threads 1 2>/dev/null
cmp lex of-ranks || fail "three ranks write another table"

gzip -k lex
narrow="--shortlist lex --shortlist-frequent 1 --shortlist-translations 2"
for models in "--model a" "--model a --model b --model-weight 2 --model-weight 1"; do
  for beam in 1 4; do
    search="$models --beam $beam --n-best $beam"
    translated without $search --threads 1
    translated whole $search --threads 1 --shortlist lex.gz --shortlist-frequent 1000 --shortlist-translations 0
    cmp without whole || fail "$search: a shortlist with the whole vocabulary changes something"
    everywhere one $search $narrow
    ! cmp -s without one || fail "$search: the shortlist changes nothing"
  done
done
# A sentence has the words of its own list alone, and those that it is given.
translated one --model a --beam 4 --shortlist lex --shortlist-frequent 0 --shortlist-translations 1
python3 - one <<'PYTHON' || fail "a translation has words that are not in its list"
import json, sys
best = {}
for line in open("lex"):
    target, source, probability = line.split()
    best.setdefault(source, target)
for found in map(json.loads, open(sys.argv[1])):
    allowed = {best.get(word) for word in found["source_words"]} | {"<unk>", "</s>", "\u2047"}
    assert set(found["words"]) <= allowed, (found, allowed)
PYTHON
sed 's/.\+/7/' source >begun
translated prefixed --model a --beam 4 --shortlist lex --shortlist-frequent 0 --shortlist-translations 1 --prefix begun
[[ $(grep -c '"words":\["7"' prefixed) == $(grep -c . source) ]] || fail "prefixes are not written"
translated required --model a --beam 8 --shortlist lex --shortlist-frequent 0 --shortlist-translations 1 --require begun
grep -q '"unmet":[1-9]\|lacks' required err && fail "required words are missing: $(<err)"

translate=("$RNNSEARCH" translate --model a --input source)
refused 1 "missing" "${translate[@]}" --shortlist missing
{ head -n 2 lex && echo "1 2" && tail -n +3 lex; } >short
{ head -n 2 lex && echo "1 2 -0.7"; } >logarithms
echo "the house 0.5" >foreign
: >empty
head -c 1000 lex.gz | head -c -20 >cut.gz
refused 1 "short, line 3: '1 2'|probability|align --lexical-table" "${translate[@]}" --shortlist short
refused 1 "logarithms, line 3: '1 2 -0.7'" "${translate[@]}" --shortlist logarithms
refused 1 "foreign: none of its 1 lines|of this model" "${translate[@]}" --shortlist foreign
refused 1 "empty" "${translate[@]}" --shortlist empty
refused 1 "cut.gz" "$MPIEXEC" -n 2 "${translate[@]}" --shortlist cut.gz
