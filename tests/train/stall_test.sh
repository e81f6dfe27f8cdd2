#!/usr/bin/env bash
# A rank that hangs ends the run in seconds, and the message has its number and host; the run then resumes from its last checkpoint
# and ends like an undisturbed one. A run that is suspended as a whole continues afterwards.
# shellcheck disable=SC2046  # what train_arguments prints is split into the arguments of a command
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus

ranks=3
# wait_for RUN JOB LINES: waits until the log of RUN has LINES lines
wait_for() {
  until (($(lines_of_log "$1") >= $3)); do
    kill -0 "$2" 2>/dev/null || fail "$1 did not get on: $(tail -n 3 "$1.log")"
    sleep 0.01
  done
}
# goes_on RUN: resumes the run, which ends like an undisturbed run
goes_on() {
  local run=$1 updates
  updates=$(($(newest_update "$run") + 20))
  "$MPIEXEC" -n $ranks "$RNNSEARCH" $(train_arguments "$run" $updates) --checkpoint-every 5 2>>"$run.log" ||
    fail "$run could not go on: $(tail -n 3 "$run.log")"
  "$MPIEXEC" -n $ranks "$RNNSEARCH" $(train_arguments "whole-$run" $updates) 2>whole.log
  expect_equal "$run" "whole-$run"
}

# Either the root hangs and the others wait for it, or another rank hangs and the root waits. The timeout is longer than a busy machine
# leaves a process without a processor, so that no other rank is late.
for late in 0 2; do
  run=stopped-$late
  "$MPIEXEC" -n $ranks "$RNNSEARCH" $(train_arguments "$run" $endless) --checkpoint-every 5 --stall-timeout 8 2>"$run.log" &
  job=$!
  wait_for "$run" $job 10
  kill -STOP "$(rank_of $job $late)"
  SECONDS=0 code=0
  wait $job || code=$?
  ((code != 0 && code != 85)) || fail "$run: expected a failure, found code $code"
  ((SECONDS < 100)) || fail "$run: it took $SECONDS s to end" # without --stall-timeout: 120
  grep -q "\[comm\] rank . on .* waits for [0-9]* s (.*): rank $late on $(hostname) gives no sign of life" "$run.log" ||
    fail "$run: no word of rank $late: $(cat "$run.log")"
  goes_on "$run"
done

# All ranks are stopped for longer than the timeout, as when a job is suspended: this is not a stall.
"$MPIEXEC" -n $ranks "$RNNSEARCH" $(train_arguments suspended $endless) --stall-timeout 8 2>suspended.log &
job=$!
wait_for suspended $job 10
mapfile -t ranks_of_job < <(pgrep -P $job)
kill -STOP "${ranks_of_job[@]}"
sleep 12
kill -CONT "${ranks_of_job[@]}"
wait_for suspended $job $(($(lines_of_log suspended) + 200))
kill -USR1 $job
code_of wait $job
((code == 85)) || fail "suspended: code $code: $(tail -n 3 suspended.log)"
goes_on suspended
