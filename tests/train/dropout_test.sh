#!/usr/bin/env bash
# --dropout and word dropout: the same masks on any number of ranks, micro-batches and threads and after an interruption, and no dropout outside of
# training.
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
model="--cell lstm --layers 2 --encoder forward --initial-state final"
drops="$model --dropout 0.2 --dropout-kind variational --attention-dropout 0.1 --layer-normalization
  --source-word-dropout 0.1 --target-word-dropout 0.1"
rate() { sed "s/--learning-rate 0.01/--learning-rate $1/"; }

"$RNNSEARCH" $(train_arguments whole 28 | rate 0.002) $drops 2>/dev/null
"$MPIEXEC" -n 2 "$RNNSEARCH" $(train_arguments pieces 28 | rate 0.002) $drops --accumulate 3 2>/dev/null
losses() { sed -n 's/.*"event":"update".*"loss_per_word":\([^,]*\).*/\1/p' "$1/log.jsonl"; }
# Sums in another order differ by rounding errors, which Adam amplifies with each update; other masks would make a difference of some
# percent from the first update on.
paste <(losses whole) <(losses pieces) |
  awk '{ d = $1 / $2 - 1; d = d < 0 ? -d : d; worst = d > worst ? d : worst; if (NR <= 4 && d > 1e-6) exit bad = 1 }
       END { printf "%d losses, at worst %.1e apart\n", NR, worst; exit !(!bad && NR == 28 && worst < 1e-2) }' ||
  fail "two ranks in pieces drop something else than one"

"$RNNSEARCH" $(train_arguments halves 14 | rate 0.002) $drops 2>/dev/null  # 14: validated by both
"$RNNSEARCH" $(train_arguments halves 28 | rate 0.002) $drops 2>/dev/null
expect_equal halves whole
"$RNNSEARCH" $(train_arguments threads 28 | rate 0.002 | sed 's/--threads 1/--threads 2/') $drops 2>/dev/null
expect_equal threads whole

# The first loss is computed with the same weights, so only masks can change it.
"$RNNSEARCH" $(train_arguments plain 1 | rate 0.002) $model --layer-normalization 2>/dev/null
[[ $(losses plain) != $(losses whole | head -1) ]] || fail "nothing is dropped"

# Dropped words alone
"$RNNSEARCH" $(train_arguments words 1) --source-word-dropout 0.2 --target-word-dropout 0.2 2>/dev/null
for side in source target; do
  "$RNNSEARCH" $(train_arguments only_$side 1) --$side-word-dropout 0.2 2>/dev/null
  [[ $(losses only_$side) != $(losses words | head -1) ]] || fail "the words of the other side of $side are not dropped"
done

# Both runs still have their initial weights, so outside of training the one with dropout gives the same results as the other.
for run in dropping keeping; do
  "$RNNSEARCH" $(train_arguments $run 1 | rate 1e-30) $model $([[ $run == keeping ]] || echo --dropout 0.5 --source-word-dropout 0.5 --target-word-dropout 0.5) 2>/dev/null
  "$RNNSEARCH" score --model $run --source text/test.source --target text/test.target >$run.scores 2>/dev/null
  "$RNNSEARCH" translate --model $run --input text/test.source --output $run.words 2>/dev/null
done
[[ $(losses dropping) != $(losses keeping) ]] || fail "nothing is dropped in training"
cmp dropping.scores keeping.scores || fail "score drops"
cmp dropping.words keeping.words || fail "translate drops"

