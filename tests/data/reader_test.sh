#!/usr/bin/env bash
# Other programs read our files. The lines of Python in data/README.md read a corpus. data/reader.py (h5py and NumPy) reads a corpus, a
# checkpoint and a log; from the parameters that it reads, under the paper's names, the paper's equations give the same alphas as `rnnsearch align --json`, within 2e-5. h5dump reads the
# corpus and the checkpoint, whose format is one that HDF5 1.10 knows.
set -euo pipefail
fail() { echo "FAILED: $*" >&2 && exit 1; }
for python in python3 /usr/bin/python3 ""; do
  [[ -n $python ]] || { echo "skipped: no python3 has h5py and NumPy (pipelines/install.sh tests)" >&2; exit 77; }
  if "$python" -c 'import h5py, numpy' 2>/dev/null; then break; fi
done

"$SOURCE/data/reversal.sh" text --vocabulary 12 --max-length 8 --train 300 --dev 16 --test 16 >/dev/null
seq 0.5 299.5 >weights
"$RNNSEARCH" prepare --train-source text/train.source --train-target text/train.target --dev-source text/dev.source \
  --dev-target text/dev.target --test news:text/test.source:text/test.target --tokenizer none --train-weights weights --output corpus.h5 >/dev/null
# Parameters as large as these make alphas that differ from word to word.
"$RNNSEARCH" train --corpus corpus.h5 --run run --embedding 8 --state 10 --alignment 6 --maxout 5 --gate-biases --state-word previous \
  --initialization gaussian --initial-deviation 0.7 --optimizer adam --learning-rate 0.01 --batch-sentences 20 --max-updates 30 \
  --validate-every 10 --log-every 5 --checkpoint-minutes 0 --precision f32 --threads 1 2>/dev/null
checkpoint=run/checkpoints/$(<run/checkpoints/latest)
"$RNNSEARCH" align --model "$checkpoint" --source text/test.source --target text/test.target --precision f32 --json align.json

for file in corpus.h5 "$checkpoint"; do
  h5dump -H "$file" >dump || fail "h5dump cannot read $file"
  grep -q 'DATASET "source_count"' dump || fail "h5dump finds no vocabulary in $file"
  # This can fail only with an HDF5 that writes newer formats, such as 2.0.
  [[ $(od -An -tu1 -j8 -N1 "$file") -le 3 ]] || fail "$file has a superblock that HDF5 1.10 does not know"
done

sed -n '/^\x60*python$/,/^\x60/{/^\x60/!p}' "$SOURCE/data/README.md" | "$python" - >said || fail "the lines in data/README.md do not run"
cmp said <(head -n 1 text/train.source) || fail "the lines in data/README.md print $(<said)"

PYTHONPATH=$SOURCE/data "$python" - "$checkpoint" <<'END' || fail "see above"
import json, sys
import h5py
import numpy as np
import reader

words, pairs = reader.corpus("corpus.h5")
for side, number in (("source", 0), ("target", 1)):
    for name, got in (("train", pairs), ("test", reader.corpus("corpus.h5", "test/news")[1])):
        expected = [line.split() for line in open(f"text/{name}.{side}")]
        assert [[words[side][i] for i in pair[number]] for pair in got] == expected, (side, name)

weights = h5py.File("corpus.h5")["train/weights"]
assert weights.dtype == np.float32 and (weights[:] == np.arange(300) + 0.5).all(), weights[:]

config, same_words, P = reader.checkpoint(sys.argv[1])
assert same_words == words and config["state"] == "10" and P["attention/W_a"].shape == (10, 6), config

records = reader.log("run/log.jsonl")
assert [r["update"] for r in records if r["event"] == "update"] == [5, 10, 15, 20, 25, 30], records
assert [r["update"] for r in records if r["event"] == "validation"] == [10, 20, 30], records
assert records[-1]["event"] == "stop", records[-1]


# The equations of the paper's appendix A, for one sentence.
def sigma(x):
    return 1 / (1 + np.exp(-x))


def gated(at, inputs, h):  # A.1.1 and A.1.2: the gated unit; inputs: pairs of a letter and what its matrices multiply
    def gate(suffix):
        return sum(x @ P[f"{at}/{letter}{suffix}"] for letter, x in inputs) + P[f"{at}/b{suffix}"]
    z, r = sigma(gate("_z") + h @ P[f"{at}/U_z"]), sigma(gate("_r") + h @ P[f"{at}/U_r"])
    return (1 - z) * h + z * np.tanh(gate("") + (r * h) @ P[f"{at}/U"])


def attention(source, target):
    x = P["encoder/embedding"][source] + P["encoder/embedding_bias"]
    forward, backward = [np.zeros(10)], [np.zeros(10)]
    for word in x:
        forward.append(gated("encoder/forward", [("W", word)], forward[-1]))
    for word in x[::-1]:
        backward.append(gated("encoder/backward", [("W", word)], backward[-1]))
    h = np.concatenate([forward[1:], backward[:0:-1]], axis=1)
    s = np.tanh(backward[-1] @ P["decoder/initial/W_s"] + P["decoder/initial/b_s"])
    word = np.zeros(8)  # E y_{i-1}; nothing stands before the first word
    for y in target:
        e = np.tanh(s @ P["attention/W_a"] + h @ P["attention/U_a"]) @ P["attention/v_a"]
        alpha = np.exp(e) / np.exp(e).sum()
        yield alpha
        s = gated("decoder", [("W", word), ("C", alpha @ h)], s)
        word = P["decoder/embedding"][y] + P["decoder/embedding_bias"]


with open("resumed.jsonl", "w") as out:
    for event, update in (("update", 1), ("skip", 2), ("update", 2), ("update", 3), ("resume", 2), ("update", 3)):
        out.write(json.dumps({"event": event, "update": update}) + "\n")
    out.write('{"event": "upd')
records = [(record["event"], record["update"]) for record in reader.log("resumed.jsonl")]
assert records == [("update", 1), ("skip", 2), ("update", 2), ("resume", 2), ("update", 3)], records

ids = {side: {word: i for i, word in enumerate(words[side])} for side in words}
worst, spread = 0, 0
for sentence in json.load(open("align.json"))["sentences"]:
    source, target = ([ids[side][word] for word in sentence[side]] for side in ("source", "target"))
    theirs, ours = np.array(sentence["alignment"]), np.array(list(attention(source, target)))
    worst, spread = max(worst, abs(ours - theirs).max()), max(spread, np.ptp(theirs))
print(f"reader_test: alphas differ by at most {worst:.1e}, among themselves by {spread:.2f}")
assert worst < 2e-5 and spread > 0.2, (worst, spread)
END
