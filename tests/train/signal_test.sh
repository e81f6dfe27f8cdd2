#!/usr/bin/env bash
# SIGTERM and SIGUSR1 end a training with a checkpoint and exit code 85, on one rank and under mpirun (which passes USR1 on to the
# ranks), in the middle of the training and before it began; the run then resumes and ends like an undisturbed one. (Signals at other
# moments: torture_test.sh and comm/alone_test.sh.)
# shellcheck disable=SC2046  # what train_arguments prints is split into the arguments of a command
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus

# goes_on RUN LAUNCHER...: resumes the run for some updates; it ends like an undisturbed run
goes_on() {
  local run=$1 updates
  shift
  updates=$(($(newest_update "$run") + 20))
  "$@" $(train_arguments "$run" $updates) 2>>"$run.log" || fail "$run: it could not go on: $(tail -1 "$run.log")"
  grep -q 'resumes from' "$run.log" || fail "$run: it began anew"
  "$@" $(train_arguments "whole-$run" $updates) 2>/dev/null
  expect_equal "$run" "whole-$run"
}

# In the middle of the training.
stop_and_resume() {
  local run=$1 signal=$2 ranks=$3 code=0 job
  shift 3
  "$@" $(train_arguments "$run" $endless) 2>>"$run.log" &
  job=$!
  until_caught "$job" "$ranks"
  while kill -0 $job 2>/dev/null && (($(lines_of_log "$run") < 5)); do sleep 0.005; done
  kill -"$signal" $job
  wait $job || code=$?
  [[ $code == 85 ]] || fail "$run: expected code 85 after $signal, found $code: $(tail -3 "$run.log")"
  grep -q '"event":"signal"' "$run/log.jsonl" || fail "$run: log.jsonl does not tell of the signal"
  [[ -s $(last_checkpoint "$run") ]] || fail "$run: no checkpoint"
  goes_on "$run" "$@"
}
stop_and_resume terminated TERM 1 "$RNNSEARCH"
stop_and_resume two USR1 2 "$MPIEXEC" -n 2 "$RNNSEARCH"

# Before anything was read, when the run's folder does not exist yet: the program waits for the end of its configuration, which does not
# come.
mkfifo gate
for launcher in "" "$MPIEXEC -n 2"; do
  exec 9<>gate
  $launcher "$RNNSEARCH" $(train_arguments early $endless) --config gate 2>early.log 9>&- &
  job=$!
  until_caught $job $((${#launcher} > 0 ? 2 : 1))
  kill -USR1 $job
  exec 9>&-
  while kill -0 $job 2>/dev/null; do # a rank that opens it later
    exec 9<>gate 9>&-
    sleep 0.05
  done
  code_of wait $job
  [[ $code == 85 && ! -e early ]] || fail "at the start, '$launcher': code $code, $(ls early 2>&1): $(tail -3 early.log)"
  [[ $(grep -c '^rnnsearch train: a signal asked to stop' early.log) == 1 ]] || fail "one sentence: $(<early.log)"
done
# A signal to one rank ends all ranks together.
"$MPIEXEC" -n 2 "$RNNSEARCH" $(train_arguments one-of-two $endless) 2>>one-of-two.log &
job=$!
until_caught $job 2
kill -TERM "$(rank_of $job 1)"
code_of wait $job
[[ $code == 85 ]] || fail "TERM at one rank of two: code $code: $(<one-of-two.log)"
