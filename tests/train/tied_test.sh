#!/usr/bin/env bash
# Tied embeddings from the text to the translation: a joint vocabulary, a run that is stopped and goes on, the
# mean of checkpoints, the moving average. (update_mpi_test.cpp has the ranks.)
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"

# Words of both sides, of the source alone and of the target alone.
"$SOURCE/data/reversal.sh" text --vocabulary 10 --max-length 7 --train 600 --dev 16 --test 16 >/dev/null
sed -i -E 's/\b[1-4]\b/t&/g' text/*.target
prepare() {
  "$RNNSEARCH" prepare --train-source text/train.source --train-target text/train.target --dev-source text/dev.source \
    --dev-target text/dev.target --tokenizer none "$@" >/dev/null
}
prepare --output corpus.h5 --joint-vocabulary
prepare --output apart.h5
value() { "$RNNSEARCH" inspect "$1" --json - | sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p"; }
[[ $(value corpus.h5 joint_vocabulary) == true && $(value apart.h5 joint_vocabulary) == false ]] ||
  fail "inspect does not tell the joint vocabulary"
words=$(value corpus.h5 source_vocabulary)
((words == $(value corpus.h5 target_vocabulary) && words == $(value apart.h5 source_vocabulary) + 4)) ||
  fail "the joint vocabulary has $words words, each side $(value apart.h5 source_vocabulary)"

refused 1 "prepare it with --joint-vocabulary" "$RNNSEARCH" $(train_arguments x 5 | sed s/corpus.h5/apart.h5/) --tied-embeddings all

# arguments RUN UPDATES: without validation, because a stopped run would validate where it stops
arguments() { train_arguments "$1" "$2" | sed 's/--schedule plateau/--schedule constant/; s/--validate-every 7/--validate-every 0/'; }
train() { "$@" 2>train.log || fail "$*: $(tail -1 train.log)"; }
train "$RNNSEARCH" $(arguments none 2)
numbers=$(value none parameter_count)
for tied in target source-target all; do
  more="--tied-embeddings $tied --average-decay 0.9 --checkpoint-every 8 --keep-checkpoints 8"
  train "$RNNSEARCH" $(arguments whole-$tied 24) $more
  train "$RNNSEARCH" $(arguments parts-$tied 11) $more
  train "$RNNSEARCH" $(arguments parts-$tied 24) $more
  expect_equal parts-$tied whole-$tied
  h5diff $(last_checkpoint parts-$tied) $(last_checkpoint whole-$tied) /average /average || fail "$tied: the averages differ"

  saved=$((numbers - 12 * words))  # a table, or the output matrix, of 12 numbers a word
  [[ $tied != all ]] || saved=$((saved - 12 * words))
  [[ $(value whole-$tied parameter_count) == "$saved" ]] ||
    fail "$tied: $(value whole-$tied parameter_count) parameters in place of $saved (untied $numbers)"
  [[ $("$RNNSEARCH" inspect whole-$tied) == *"RNNsearch, tied embeddings ($tied)"* ]] || fail "$tied: inspect does not say so"

  "$RNNSEARCH" average --run whole-$tied --last 3 --output mean-$tied.h5 >/dev/null
  for model in whole-$tied mean-$tied.h5; do
    "$RNNSEARCH" translate --model $model --input text/test.source --output translations 2>/dev/null
    [[ $(wc -l <translations) == 16 ]] || fail "$model: $(wc -l <translations) translations of 16 lines"
    rm translations
  done
done
