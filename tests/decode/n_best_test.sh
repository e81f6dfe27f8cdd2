#!/usr/bin/env bash
# N-best lists: the three formats say the same, their numbers add up and agree with `score`, and neither ranks, threads nor batches change
# them. Lines of which no hypothesis ends are searched again, and translate reports their number.
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
"$RNNSEARCH" $(train_arguments run 60) 2>/dev/null
for _ in 1 2 3; do cat text/dev.source; echo; done >source

ranking="--beam 5 --length-penalty 0.7 --coverage-penalty 0.3 --word-bonus 0.1 --minimum-length 2 --maximum-length 14"
# listed NAME FORMAT OPTIONS...: writes an n-best list to NAME
listed() {
  "$RNNSEARCH" translate --model run --input source --output "$1" --precision f32 --n-best 4 --n-best-format "$2" \
    "${@:3}" 2>err || fail "$1: $(<err)"
}
listed json json $ranking
listed moses moses $ranking
listed plain plain $ranking
"$RNNSEARCH" translate --model run --input source --output best --precision f32 $ranking
"$RNNSEARCH" translate --model run --input source --output one.json --precision f32 $ranking --n-best-format json

everywhere again-json --model run --n-best 4 $ranking
cmp json again-json || fail "again it is another list"
listed alone json $ranking --batch-sentences 1
cmp json alone || fail "batches of 1 write another list"

# What was found, scored by forced decoding: words are text here.
python3 - <<'PYTHON' >pairs || fail "the lists do not agree"
import json, math
lines = [json.loads(line) for line in open("json")]
def fields_of(name): return [[field.strip() for field in line.split("|||")] for line in open(name)]
moses, plain = fields_of("moses"), fields_of("plain")
source = open("source").read().split("\n")[:-1]
assert len(lines) == len(moses) == len(plain)
def near(a, b, tolerance=2e-6): assert abs(a - b) <= tolerance * max(1, abs(b)), (a, b)
before = None
targets = open("pairs.target", "w"), open("pairs.expected", "w")
finished = 0
for found, fields, short in zip(lines, moses, plain):
    assert found["source_words"] == source[found["line"]].split()
    words = found["words"]
    if not source[found["line"]]:
        assert found["text"] == "" and found["score"] == 0 and found["length"] == 0 and words == [], found
        continue
    assert found["length"] == len(words) == len(found["word_scores"])
    assert found["finished"] == (words[-1] == "</s>")
    text = words[:-1] if found["finished"] else words
    assert found["text"] == " ".join(text)
    assert 2 <= len(text) and found["length"] <= 14
    near(sum(found["word_scores"]), found["log_probability"], 2e-5)
    near(found["length_penalty"], ((5 + found["length"]) / 6) ** 0.7)
    near(found["word_bonus"], 0.1 * found["length"])
    assert found["coverage_penalty"] <= 0
    near(found["score"], found["log_probability"] / found["length_penalty"] + found["coverage_penalty"] + found["word_bonus"], 1e-5)
    assert all(s < len(found["source_words"]) and t < len(text) for s, t in found["alignment"])
    if found["rank"] > 1: assert found["line"] == before["line"] and found["score"] <= before["score"]
    before = found
    if found["finished"]:
        finished += 1
        print(source[found["line"]])
        print(found["text"], file=targets[0])
        print(found["log_probability"], file=targets[1])
    features = fields[2].split()
    names, values = features[0::2], [float(value) for value in features[1::2]]
    assert names == ["LogProbability=", "Length=", "LengthPenalty=", "CoveragePenalty=", "WordBonus="], names
    assert values == [found[key] for key in ("log_probability", "length", "length_penalty", "coverage_penalty", "word_bonus")]
    assert (int(fields[0]), fields[1], float(fields[3])) == (found["line"], found["text"], found["score"])
    assert fields[4].split() == ["%d-%d" % tuple(link) for link in found["alignment"]]
    assert [float(word) for word in fields[5].split()] == found["word_scores"]
    assert (int(short[0]), short[1], float(short[2])) == (found["line"], found["text"], found["score"])
assert finished > 100, finished
best = open("best").read().split("\n")[:-1]
ones = [json.loads(line) for line in open("one.json")]
assert [one["text"] for one in ones] == best and ones == [found for found in lines if found["rank"] == 1]
PYTHON
"$RNNSEARCH" score --model run --source pairs --target pairs.target --precision f32 >scores
paste scores pairs.expected | awk '{d = $1 - $2; if (d < -1e-4 || d > 1e-4) {print "score: " $1 ", translate: " $2; bad = 1}}
  END {exit bad}' || fail "score does not agree with the log-probabilities of what was found"

"$RNNSEARCH" $(train_arguments fixed 4) --attention none 2>/dev/null
refused 1 "--coverage-penalty needs a model with attention" "$RNNSEARCH" translate --model fixed --input source --coverage-penalty 0.1
"$RNNSEARCH" translate --model fixed --input source --n-best-format json >out
! grep -v '"alignment":\[\]' out || fail "a model without attention has alignments"

# The model reverses its source, and the limit of half the length is too short for that: only a wide beam finds an end.
# retried NAME RANKS OPTIONS...: writes the translations to NAME and the report of retries to NAME.said
retried() {
  local name=$1 launcher=()
  (($2 == 1)) || launcher=("$MPIEXEC" -n "$2")
  "${launcher[@]}" "$RNNSEARCH" translate --model run --input source --output "$name" --minimum-length-ratio 0 \
    --maximum-length-ratio 0.5 --threads 1 "${@:3}" 2>err || fail "$name: $(<err)"
  grep '^\[translate\] .*\(ended\|cut off\)' err >"$name.said" || true
}

lines=$(wc -l <source)
for search in "--beam 1" "--beam 2 --n-best 2"; do
  retried one 1 $search
  retried two 2 $search
  cmp one two || fail "$search: one rank and two differ"
  cmp one.said two.said || fail "$search: one rank says $(<one.said), two say $(<two.said)"
  retried never 1 $search --retry-below 0
  [[ $(<never.said) == *" cut off at the maximum length, because no hypothesis ended and --retry-below is 0" ]] ||
    fail "$search --retry-below 0: $(<never.said)"
  ! cmp -s one never || fail "$search: the retries changed nothing"
  again=$(sed -n 's/.*no hypothesis of \([0-9]*\) lines\{0,1\} ended in the first search, but in a later one.*/\1/p' one.said)
  ((again > 0 && again <= lines)) || fail "$search: $(<one.said)"
done
