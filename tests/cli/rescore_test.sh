#!/usr/bin/env bash
# The pipeline of src/cli/commands/rescore.md: n-best lists of dev and test, rescored by a right-to-left model and by one of another
# corpus, and the re-ranked test set evaluated. Features are the scores of `score` to the last bit, on any number of
# ranks and threads, and in both formats.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
"$RNNSEARCH" prepare --train-source text/train.source --train-target text/train.target --tokenizer none --target-words 7 \
  --output other.h5 >/dev/null
on 1 left 40
on 1 right 60 --target-direction right-to-left --reverse-source --seed 7
"$RNNSEARCH" train --corpus other.h5 --run encdec --attention none --max-updates 20 --embedding 8 --state 8 --maxout 8 \
  --batch-sentences 12 --checkpoint-minutes 0 --threads 1 --precision f32 2>/dev/null
for set in dev test; do
  { cat text/$set.source; echo; } >$set.source # the last line has no words
  { cat text/$set.target; echo; } >$set.target
  for format in moses json; do
    "$RNNSEARCH" translate --model left --input $set.source --output $set.$format --precision f32 --beam 8 --n-best 8 \
      --length-penalty 0.6 --n-best-format $format
  done
done

# rescored NAME LIST OPTIONS...: writes LIST with two more features to NAME
models=(--model right --model other=encdec --batch-sentences 20 --precision f32)
rescored() {
  "${launcher[@]}" "$RNNSEARCH" rescore --list "$2" --source "${2%.*}".source "${models[@]}" --n-best-output "$1" "${@:3}" 2>err ||
    fail "$1: $(<err)"
}
launcher=()
rescored dev.features dev.moses --threads 1
rescored dev.features-json dev.json
launcher=("$MPIEXEC" -n 3)
rescored of-ranks dev.moses --threads 1
cmp dev.features of-ranks || fail "three ranks write another list"
launcher=()
"$RNNSEARCH" rescore --list dev.moses --source dev.source "${models[@]}" --threads 2 2>/dev/null | cmp - dev.features ||
  fail "two threads, or standard output, give another list"

python3 -c '
source = open("dev.source").read().split("\n")
with open("pairs", "w") as pairs, open("pairs.target", "w") as targets:
  for line in open("dev.moses"):
    number, text = line.split(" ||| ")[:2]
    print(source[int(number)], file=pairs)
    print(text, file=targets)'
"$RNNSEARCH" score --model right --source pairs --target pairs.target --batch-sentences 20 --precision f32 --json - >right.json
"$RNNSEARCH" score --model encdec --source pairs --target pairs.target --batch-sentences 20 --precision f32 --json - >other.json
cat >compare.py <<'PYTHON'
import json
right, other = (json.load(open(name + ".json"))["lines"] for name in ("right", "other"))
before, moses = open("dev.moses").read().split("\n")[:-1], open("dev.features").read().split("\n")[:-1]
objects = [json.loads(line) for line in open("dev.features-json")]
plain = [json.loads(line) for line in open("dev.json")]
assert len(right) == len(other) == len(before) == len(moses) == len(objects) > 100, len(right)
assert len(set(right)) > 50
for r, o, was, line, found, without in zip(right, other, before, moses, objects, plain):
    fields = line.split(" ||| ", 3)
    features = fields[2].split()
    assert features[-4::2] == ["right=", "other="], features
    assert (float(features[-3]), float(features[-1])) == (r, o), (features, r, o)
    assert was == " ||| ".join(fields[:2] + [" ".join(features[:-4])] + fields[3:])
    assert found.pop("features") == {"right": r, "other": o} and found == without
PYTHON
python3 compare.py || fail "the features are not the scores of score, or something else has changed"

echo '{"weights": {"LogProbability": 0.5, "right": 0.3, "other": 0.2}}' >weights.json
# The test set, in one go, and evaluated.
"$RNNSEARCH" rescore --list test.json --source test.source "${models[@]}" --weights weights.json >test.out 2>err || fail "$(<err)"
[[ $(wc -l <test.out) == 17 ]] || fail "17 lines have $(wc -l <test.out) translations"
"$RNNSEARCH" evaluate --hypotheses after=test.out --references test.target >/dev/null

rescore=("$RNNSEARCH" rescore --list dev.moses)
refused 1 "weight for left|LogProbability, Length" "${rescore[@]}" --weight left=1 --output nothing
refused 1 "two features are named Length" "${rescore[@]}" --source dev.source --model Length=right
head -n 16 dev.source >short
refused 1 "17 source lines|short has 16" "${rescore[@]}" --source short --model right --n-best-output nothing
printf '0 ||| a ||| -1\n' >plain
refused 1 "plain, line 1|four fields|--n-best-format" "$RNNSEARCH" rescore --list plain --weight F=1 --output nothing
echo '{"bleu": 1}' >empty.json
refused 1 'empty.json has no object "weights"' "${rescore[@]}" --weights empty.json --output nothing
