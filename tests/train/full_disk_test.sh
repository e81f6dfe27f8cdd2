#!/usr/bin/env bash
# The disk is full when a checkpoint is written, in the background or not: a one-line error, exit code 1, the previous checkpoint is
# intact, and with free space the run resumes and ends like an undisturbed one.
# shellcheck disable=SC2046,SC2086  # lists of options are split into the arguments of a command
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
"$RNNSEARCH" $(train_arguments whole 40) 2>/dev/null
bytes=$(stat -c %s "$(last_checkpoint whole)")

mkdir small
mount -t tmpfs -o size=$((bytes * 5 / 2)) rnnsearch-test small 2>/dev/null ||
  { echo "skipped: may not mount" >&2; exit 77; }
trap 'umount small' EXIT
for synchronous in false true; do
  options="--checkpoint-every 10 --synchronous-checkpoints $synchronous"
  code_of "$RNNSEARCH" $(train_arguments small/run 40) $options 2>errors
  [[ $code == 1 ]] || fail "expected code 1 on a full disk, found $code"
  [[ $(grep -c '^rnnsearch train: ' errors) == 1 ]] || fail "expected one sentence, found: $(cat errors)"
  grep -qi 'space' errors || fail "the sentence does not say that the disk is full: $(cat errors)"
  [[ -z $(find small -name '.*.tmp-*') ]] || fail "a temporary fills the disk"
  "$RNNSEARCH" inspect --file "$(last_checkpoint small/run)" >/dev/null || fail "the checkpoint before is not whole"

  mount -o remount,size=$((bytes * 8)) small
  "$RNNSEARCH" $(train_arguments small/run 40) $options 2>errors || fail "it did not go on: $(cat errors)"
  grep -q 'resumes from' errors || fail "it began anew: $(cat errors)"
  expect_equal small/run whole
  rm -r small/run
  mount -o remount,size=$((bytes * 5 / 2)) small
done
