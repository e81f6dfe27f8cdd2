#!/usr/bin/env bash
# Soft alignments of a model that has learnt to reverse sequences: the links are the anti-diagonal, in every output format and on
# any number of ranks; what cannot be aligned is rejected with a one-line error, and nothing is written.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
command -v python3 >/dev/null || { echo "skipped: python3, which reads the results back, is not installed"; exit 77; }

"$SOURCE/data/reversal.sh" text --vocabulary 30 --max-length 10 --train 8000 --dev 50 --test 100 >/dev/null
# Guided by the links of the training set, attention ends on the anti-diagonal whatever the seed and the last bits of gradients.
awk '{ for (i = 0; i < NF; ++i) printf "%s%d-%d", (i ? " " : ""), NF - 1 - i, i; print "" }' text/train.source >train.links
"$RNNSEARCH" prepare --train-source text/train.source --train-target text/train.target --train-alignments train.links --tokenizer none \
  --dev-source text/dev.source --dev-target text/dev.target --output corpus.h5 >/dev/null
train() { "$RNNSEARCH" train "${learns_reversal[@]}" --state 32 --corpus corpus.h5 "$@" 2>>train.log; }
train --run run --max-updates 1200 --guided-alignment 1
train --run plain --max-updates 1 --attention none
pair=(--model run --source text/test.source --target text/test.target)

# all output formats at once, which must agree
"$RNNSEARCH" align "${pair[@]}" --json all.json --pharaoh links --svg pictures --bars
"$RNNSEARCH" score --model run --source text/test.source --target text/test.target >scores
cat >check.py <<'END_OF_CHECK'
import json, math, xml.dom.minidom

result = json.load(open("all.json"))
assert list(result) == ["format", "format_version", "created_by", "model", "sentences"], list(result)
assert (result["format"], result["format_version"], result["model"]) == ("rnnsearch-alignment", 1, "run")
sources, targets = ([line.split() for line in open("text/test." + side)] for side in ("source", "target"))
links = [[tuple(map(int, link.split("-"))) for link in line.split()] for line in open("links")]
scores = [float(line) for line in open("scores")]
assert len(result["sentences"]) == len(sources) == len(links) == 100
right = words = 0
for i, sentence in enumerate(result["sentences"]):
    assert sentence["line"] == i + 1
    assert sentence["source"] == sources[i] + ["</s>"] and sentence["target"] == targets[i] + ["</s>"]
    assert abs(sentence["log_probability"] - scores[i]) < 2e-4, (sentence["log_probability"], scores[i])
    rows = sentence["alignment"]
    assert len(rows) == len(targets[i]) + 1
    expected = []
    for y, row in enumerate(rows):
        assert len(row) == len(sources[i]) + 1 and abs(math.fsum(row) - 1) < 1e-5, row
        most = row.index(max(row))
        if y < len(targets[i]) and most < len(sources[i]):
            expected.append((most, y))
    for kind in (".svg", "-bars.svg"): xml.dom.minidom.parse("pictures/line-%06d%s" % (i + 1, kind))
    assert links[i] == sorted(expected), (i + 1, links[i], expected)
    words += len(targets[i])
    right += sum((len(sources[i]) - 1 - y, y) in links[i] for y in range(len(targets[i])))
assert right >= 0.95 * words, "only %d of %d links are on the anti-diagonal" % (right, words)
END_OF_CHECK
python3 check.py || fail "the results are not what they should be; $(tail -n 3 train.log)"
(($(find pictures -type f | wc -l) == 200)) || fail "not two pictures a line: $(ls pictures)"

# the same bytes on any number of ranks, also for the model's own translations
"$MPIEXEC" -n 2 "$RNNSEARCH" align "${pair[@]}" --threads 1 --json two.json --pharaoh two.links --svg two.pictures --bars
{ cmp all.json two.json && cmp links two.links && diff -r pictures two.pictures; } || fail "two ranks align otherwise than one"
own=(--model run --source text/test.source --beam 3 --batch-sentences 7 --threads 1 --json -)
"$RNNSEARCH" align "${own[@]}" >own.json
"$MPIEXEC" -n 3 "$RNNSEARCH" align "${own[@]}" | cmp - own.json || fail "three ranks align their translations otherwise than one"
"$RNNSEARCH" translate --model run --input text/test.source --beam 3 --output translated
python3 -c '
import json
for sentence in json.load(open("own.json"))["sentences"]: print(" ".join(sentence["target"][:-1]))' | cmp - translated ||
  fail "the translations that are aligned are not those of translate"

# A model that reads the source and writes the target from their last word to the first: links still count from the first words.
train --run turned --max-updates 1200 --guided-alignment 1 --reverse-source --target-direction right-to-left
"$RNNSEARCH" align --model turned --source text/test.source --target text/test.target --pharaoh - --json turned.json >turned.links
paste text/test.source turned.links | awk -F '\t' '
  { n = split($1, words, " "); all += n
    for (y = 0; y < n; ++y) right += index(" " $2 " ", " " n - 1 - y "-" y " ") > 0 }
  END { if (right < 0.95 * all) { print right " of " all " links are on the anti-diagonal"; exit 1 } }' >&2 ||
  fail "links of the model that writes from right to left; $(tail -n 3 train.log)"
"$RNNSEARCH" score --model turned --source text/test.source --target text/test.target >turned.scores
python3 -c '
import json
for sentence, score in zip(json.load(open("turned.json"))["sentences"], open("turned.scores")):
    assert abs(sentence["log_probability"] - float(score)) < 2e-4, (sentence["log_probability"], score)' ||
  fail "scores of the model that writes from right to left"

# selected lines, as text and as JSON
"$RNNSEARCH" align "${pair[@]}" --lines 7,3-4,4 --pharaoh - >some
cmp some <(sed -n '3p;4p;7p' links) || fail "--lines 7,3-4,4 gives $(<some)"
"$RNNSEARCH" align "${pair[@]}" --lines 5 >people
(($(grep -c '^  .* <- .* [01]\.[0-9][0-9]' people) == $(sed -n 5p text/test.target | wc -w) + 1)) ||
  fail "not a line a target word: $(<people)"
"$RNNSEARCH" align "${pair[@]}" --links threshold --threshold 0.9 --pharaoh sharp
python3 -c '
import json
for sentence in json.load(open("all.json"))["sentences"]:
    print(*("%d-%d" % (x, y) for x in range(len(sentence["source"]) - 1) for y in range(len(sentence["target"]) - 1)
            if sentence["alignment"][y][x] >= 0.9))' | cmp - sharp || fail "links of at least 0.9"

# against gold links: its own have no error (others: evaluate/n_best_list_test.cpp), on any number of ranks
"$RNNSEARCH" align "${pair[@]}" --gold links >own.score
{ grep -q '^alignment error rate  0.0000$' own.score && grep -q '^F1  *1.0000$' own.score; } || fail "its own links: $(<own.score)"
"$MPIEXEC" -n 2 "$RNNSEARCH" align "${pair[@]}" --threads 1 --gold links --json own.json | cmp - own.score ||
  fail "two ranks score otherwise than one"
python3 -c 'import json; assert json.load(open("own.json"))["gold"]["recall"] == 1'

# links without a model, of words that keep their order: the same bytes on any number of ranks
sed 's/[^ ]*/w&/g' text/train.source >renamed.target
statistical=(--statistical --source text/train.source --target renamed.target)
"$RNNSEARCH" align "${statistical[@]}" >diagonal
awk '{ for (i = 1; i <= NF; ++i) { split($i, ends, "-"); right += ends[1] == ends[2]; ++all } }
  END { exit !(all > 40000 && right >= 0.99 * all) }' diagonal || fail "--statistical: $(head -n 3 diagonal)"
"$MPIEXEC" -n 2 "$RNNSEARCH" align "${statistical[@]}" --threads 1 --pharaoh two.diagonal --lexical-table lexical
cmp diagonal two.diagonal || fail "--statistical on two ranks"
"$RNNSEARCH" align "${statistical[@]}" --gold diagonal >own.score
grep -q '^alignment error rate  0.0000$' own.score || fail "--statistical has an error against itself: $(<own.score)"
awk '$1 != "w" $2 { ++wrong } END { exit !(NR == 30 && !wrong) }' lexical || fail "the table of --statistical: $(head lexical)"

# wrong input
align=("$RNNSEARCH" align --model run --source text/test.source)
refused 1 "plain|has no attention" "$RNNSEARCH" align --model plain --source text/test.source --json x.json
refused 1 "text/test.source has 100 lines|text/dev.target has 50" "${align[@]}" --target text/dev.target
head -n 99 links >short
refused 1 "text/test.source has 100 lines|short has 99" "$RNNSEARCH" align "${pair[@]}" --gold short
{ head -n 4 links && echo "0-0 40-0" && tail -n 95 links; } >beyond
refused 1 "beyond, line 5|40-0" "$RNNSEARCH" align "${pair[@]}" --gold beyond --json x.json --svg x
for lines in 0 5-3 x 1,,2 1- -3 1-2-3 '1 2' 99999999999999999999999; do
  refused 2 "--lines: '|1,5,10-20" "$RNNSEARCH" align "${pair[@]}" --lines "$lines"
done
refused 1 "--lines|no line 101|which has 100" "$RNNSEARCH" align "${pair[@]}" --lines 1,99-101
mkfifo pipe
refused 1 "pipe is a pipe or a device" "$RNNSEARCH" align "${pair[@]}" --json pipe
refused 1 "--svg links is not a folder" "$RNNSEARCH" align "${pair[@]}" --svg links
