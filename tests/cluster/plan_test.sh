#!/usr/bin/env bash
# cluster/scaling/plan.py: hours and node-hours of RNNsearch-50 from given speeds and a given network, against numbers computed by hand;
# it reads what `rnnsearch benchmark --json` writes, and refuses other files with a one-line error.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
export PYTHONDONTWRITEBYTECODE=1
plan=("$SOURCE/cluster/scaling/plan.py" --measured measured.json --spread 0)

# Stored measurements of round numbers, and one dense part of 4 MB, which all-reduces send when everything is computed.
cat >measured.json <<'JSON'
{"configuration": {"source-length": "25", "target-length": "25", "source-words": "50", "target-words": "60", "embedding": "8", "state": "8",
                   "alignment": "8", "maxout": "8", "readout-rank": "0", "optimizer": "adadelta"},
 "parameters": 1000000000, "messages": {"value": 0, "bandwidth": 1e9},
 "slices": {"80": {"optimiser": 0.5, "gradient_parts": [{"elements": 1000000, "table": -1, "seconds": 4.0}]},
            "20": {"optimiser": 0.5, "gradient_parts": [{"elements": 1000000, "table": -1, "seconds": 1.5}]},
            "5": {"optimiser": 0.5, "gradient_parts": [{"elements": 1000000, "table": -1, "seconds": 0.8}]}}}
JSON
network=(--gigabits 0.0851063829787234) # 94% of it are 10 MB/s

# is FILE EXPECTED: the rows of all plans; hours and the like may differ by a thousandth, which messages take
is() {
  python3 - "$1" "$2" <<'PYTHON' || fail "$1: $(<"$1")"
import json, sys
rows = [row for plan in json.load(open(sys.argv[1]))["plans"] for row in plan["rows"]]
expected = [line.split() for line in sys.argv[2].strip().splitlines()]
assert len(rows) == len(expected), len(rows)
for row, (nodes, batch, pairs, updates, *numbers) in zip(rows, expected):
    assert (row["nodes"], row["batch"], row["pairs_a_node"], row["updates"]) == (int(nodes), int(batch), pairs.replace("_", " "), int(updates)), row
    for name, number in zip(("seconds_an_update", "hours", "node_hours", "efficiency"), map(float, numbers)):
        assert abs(row[name] / number - 1) < 1e-3, (name, number, row)
PYTHON
}

# 80 pairs of 25 words at 1,000 words per second: 2 s, of which the optimiser takes 1e9 weights * 28 bytes / 280 GB/s = 0.1 s and computing
# 1.9 s; 20 pairs take 1.5 / 4 of that (0.7125 s), 5 and fewer 0.8 / 4 (0.38 s). An all-reduce sends 2 (N - 1) / N * 4 MB at 10 MB/s: 0.6,
# 0.75 and 0.7875 s. Hours are updates * seconds / 3600.
"${plan[@]}" "${network[@]}" --words-per-second 1000 --memory 280 --json >by_hand.json
is by_hand.json '
 1 80 80 288000 2 160 160 1
 4 80 20 288000 1.4125 113 452 0.353982
16 80 5 288000 1.23 98.4 1574.4 0.101626
64 80 1_or_2 288000 1.2675 101.4 6489.6 0.0246548
 1 80 80 288000 2 160 160 1
 4 320 80 72000 2.6 52 208 0.769231
16 1280 80 18000 2.75 13.75 220 0.727273
64 5120 80 4500 2.7875 3.484375 223 0.717489
 1 80 80 288000 2 160 160 1
 4 320 80 288000 2.6 208 832 0.769231
16 1280 80 288000 2.75 220 3520 0.727273
64 5120 80 288000 2.7875 223 14272 0.717489'
"${plan[@]}" "${network[@]}" --words-per-second 1000 --memory 280 >table
[[ $(grep -c '^| *[0-9]' table) == 12 ]] || fail "the tables: $(<table)"
for words in '2.88e5 updates of 80 pairs' '| 64 | 80 | 1 or 2 | 288,000 | 1.26' '| 16 | 1,280 | 80 | 18,000 | 2.75' 'Nothing about learning is assumed' \
  'which the paper does not show' 'saves no update at all'; do
  grep -qF "$words" table || fail "'$words' is not in the table: $(<table)"
done

# benchmark BATCH COMPUTING MEDIAN: what the benchmark writes, with 0.1 s of the optimiser
benchmark() {
  printf '{"timed": "updates", "hosts": 1, "seconds": {"median": %s, "mean": %s}, "phase_seconds": {"optimiser": 0.1}, "configuration":
    {"batch-sentences": "%s", "source-length": "30", "target-length": "31", "source-words": "50", "target-words": "60", "embedding": "8",
     "state": "8", "alignment": "8", "maxout": "8", "readout-rank": "0", "optimizer": "adadelta"},
    "gradient_parts": [{"elements": 1000000, "table": -1, "seconds": %s}]}' "$3" "$3" "$1" "$2"
}
# 40 pairs lie a third of the way from 20 to 80: 1.5 + 2.5 / 3 = 7 / 3; so 1 s for 40 pairs are 12 / 7 s for 80.
benchmark 40 1.0 1.1 >forty.json
"${plan[@]}" --benchmark forty.json --nodes 1 --json >found.json
is found.json "$(for _ in 1 2 3; do echo "1 80 80 288000 1.8142857 145.142857 145.142857 1"; done)"
# of several numbers of threads the fastest counts
{ printf '{"thread_scaling": [], "runs": ['; benchmark 40 2.0 2.1; printf ,; cat forty.json; printf ']}'; } >threads.json
"${plan[@]}" --benchmark threads.json --nodes 1 --json | cmp - found.json || fail "threads: another plan"
# two batches: nothing is taken from the stored measurements
benchmark 80 1.9 2.0 >80.json
benchmark 20 0.5 0.6 >20.json
"${plan[@]}" "${network[@]}" --benchmark 20.json 80.json --nodes 4 --json >found.json
is found.json '
4 80 20 288000 1.2 96 384 0.416667
4 320 80 72000 2.6 52 208 0.769231
4 320 80 288000 2.6 208 832 0.769231'

# what the program itself writes
tiny=(--embedding 8 --state 8 --alignment 8 --maxout 8 --source-words 50 --target-words 60 --updates 1 --machine false)
"$RNNSEARCH" benchmark "${tiny[@]}" --batch-sentences 4 --threads 1 --json - >one.json
"$RNNSEARCH" benchmark "${tiny[@]}" --batch-sentences 2 --threads 1,2 --json - >two.json 2>log || fail "$(<log)"
for files in one.json two.json 'one.json two.json'; do
  read -ra names <<<"$files"
  "${plan[@]}" --benchmark "${names[@]}" >table || fail "$files: no plan"
  [[ $(grep -c '^| *[0-9]' table) == 12 ]] || fail "$files: $(<table)"
done

refuses() { refused 1 "scaling: |$1" "${plan[@]}" "${@:2}"; } # WORDS ARGUMENTS...
sed 's/"embedding": "8"/"embedding": "256"/' one.json >other.json
grep -q '"embedding": "256"' other.json || fail "no other model: $(<other.json)"
refuses "other.json has embedding = 256, RNNsearch-50 has 8" --benchmark other.json
echo 'no JSON' >text
refuses "text: " --benchmark text
echo '{"timed": "updates"}' >short.json
refuses "short.json is not from rnnsearch benchmark" --benchmark short.json
"$RNNSEARCH" benchmark "${tiny[@]}" --batch-sentences 4 --threads 1 --decode --json - >decoded.json
refuses "decoded.json has batches translated" --benchmark decoded.json
refuses "same batch-sentences" --benchmark one.json one.json
refuses "optimiser alone needs" --words-per-second 1e6
