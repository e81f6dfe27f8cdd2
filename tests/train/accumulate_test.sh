#!/usr/bin/env bash
# --accumulate: an update from several micro-batches needs less memory and gives the same result.
# shellcheck disable=SC2046  # what train_arguments prints is split into the arguments of a command
set -euo pipefail
source "$SOURCE/tests/train/support.sh"

peak() {  # pieces
  "$RNNSEARCH" benchmark --embedding 32 --state 128 --alignment 128 --maxout 32 --source-words 200 --target-words 200 \
    --batch-sentences 320 --updates 1 --untimed-updates 0 --threads 1 --json --accumulate "$1" 2>/dev/null |
    sed -n 's/.*"peak_memory_bytes": \([0-9]*\).*/\1/p'
}
whole=$(peak 1) pieces=$(peak 8)
echo "peak memory: $whole bytes in one piece, $pieces in eight"
((pieces < whole * 6 / 10)) || fail "eight pieces need $pieces bytes, one needs $whole"

# two ranks with micro-batches have the losses of one rank without
make_corpus
"$RNNSEARCH" $(train_arguments whole 30 | sed 's/--learning-rate 0.01/--learning-rate 0.002/') 2>/dev/null
"$MPIEXEC" -n 2 "$RNNSEARCH" $(train_arguments pieces 30 | sed 's/--learning-rate 0.01/--learning-rate 0.002/') \
  --accumulate 3 2>/dev/null
losses() { sed -n 's/.*"event":"update".*"loss_per_word":\([^,]*\).*/\1/p' "$1/log.jsonl"; }
paste <(losses whole) <(losses pieces) |
  awk '{ d = $1 / $2 - 1; d = d < 0 ? -d : d; worst = d > worst ? d : worst }
       END { printf "%d losses, at worst %.1e apart\n", NR, worst; exit !(NR == 30 && worst < 1e-5) }' || fail "the losses differ"
