#!/usr/bin/env bash
# rnnsearch average: the mean of a run's checkpoints is a model that every command accepts, but no training can resume from it.
# shellcheck disable=SC2046  # what train_arguments prints is split into the arguments of a command
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus

"$RNNSEARCH" $(train_arguments run 40) --checkpoint-every 8 --keep-checkpoints 4 2>train.log
mapfile -t newest < <(cd run/checkpoints && printf '%s\n' update-*.h5 | sort -r | head -n 3)  # the best is kept, too
"$RNNSEARCH" average --run run --last 3 --output mean.h5 >said 2>average.log
read -r words <said
[[ $words == "mean.h5: the mean of 3 checkpoints, "*" parameters: ${newest[*]}" ]] || fail "it says: $words"
[[ $("$RNNSEARCH" inspect mean.h5) == *"average_of"*"update-00000040.h5 (digest"* ]] || fail "inspect does not say what it is"

# named one by one, in any order: the same bits
last=run/checkpoints/update-00000040.h5
"$RNNSEARCH" average --checkpoint "run/checkpoints/${newest[2]}" --checkpoint $last \
  --checkpoint "run/checkpoints/${newest[1]}" --output again.h5 >/dev/null
h5diff mean.h5 again.h5 /parameters /parameters || fail "the order of the checkpoints matters"
h5diff -q mean.h5 $last /parameters /parameters && fail "the mean is the newest checkpoint"

# every command accepts it
"$RNNSEARCH" translate --model mean.h5 --input text/test.source --output translations 2>/dev/null
[[ $(wc -l <translations) == 16 ]] || fail "$(wc -l <translations) translations of 16 lines"
"$RNNSEARCH" evaluate --hypotheses mean=translations --references text/test.target >table 2>/dev/null
[[ $("$RNNSEARCH" score --model mean.h5 --source text/test.source --target text/test.target 2>/dev/null | wc -l) == 16 ]] ||
  fail "score does not give a line a pair"

refused 1 "is the mean of update-00000040.h5" "$RNNSEARCH" $(train_arguments onwards 50) --resume mean.h5
refused 1 "mean.h5 exists" "$RNNSEARCH" average --run run --last 3 --output mean.h5
"$RNNSEARCH" average --run run --last 2 --output mean.h5 --overwrite >/dev/null
h5diff -q mean.h5 again.h5 /parameters /parameters && fail "--overwrite did not replace the mean"
refused 1 "--last is 9 but run holds" "$RNNSEARCH" average --run run --last 9 --output other.h5
refused 1 "no history" "$RNNSEARCH" inspect mean.h5 --history
"$RNNSEARCH" $(train_arguments seed 8) --seed 2 2>/dev/null
refused 1 "seed is 1 in the first and 2 in the second" "$RNNSEARCH" average --checkpoint $last \
  --checkpoint seed/checkpoints/update-00000008.h5 --output other.h5
