#!/usr/bin/env bash
# A rank that stands still ends the run in seconds, with its number and host in the message; the run then goes on from its
# last checkpoint as if nothing had been. A run that is suspended as a whole just goes on.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus

# wait_for RUN LINES: until it has logged so much
wait_for() {
  for ((i = 0; i < 3000; ++i)); do
    (($(lines_of_log "$1") >= $2)) && return
    sleep 0.01
  done
  fail "$1 did not get on: $(tail -n 3 "$1.log")"
}
# rank_of JOB RANK: its process
rank_of() {
  local pid
  for pid in $(pgrep -P "$1"); do
    if tr '\0' '\n' <"/proc/$pid/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$2"; then echo "$pid" && return; fi
  done
  fail "no rank $2 below $1"
}
updates=300 ranks=3  # long enough for the rank to be found while they run
mpirun -n $ranks "$RNNSEARCH" $(train_arguments whole $updates) 2>whole.log

# The root is waited for by others, the others by the root.
for late in 0 2; do
  run=stopped-$late
  mpirun -n $ranks "$RNNSEARCH" $(train_arguments "$run" $updates) --checkpoint-every 5 --stall-timeout 3 2>"$run.log" &
  job=$!
  wait_for "$run" 10
  kill -STOP "$(rank_of $job $late)"
  SECONDS=0 code=0
  wait $job || code=$?
  ((code != 0 && code != 85)) || fail "$run: expected a failure, found code $code"
  ((SECONDS < 20)) || fail "$run: it took $SECONDS s to end"
  grep -q "\[comm\] rank . on .* waits for . s (.*): rank $late on $(hostname) gives no sign of life" "$run.log" ||
    fail "$run: no word of rank $late: $(cat "$run.log")"
  mpirun -n $ranks "$RNNSEARCH" $(train_arguments "$run" $updates) --checkpoint-every 5 2>>"$run.log"
  expect_equal "$run" whole
done

# All of them stand still for longer than the timeout, as when a job is suspended: that is no stall.
mpirun -n $ranks "$RNNSEARCH" $(train_arguments suspended $updates) --stall-timeout 3 2>suspended.log &
job=$!
wait_for suspended 10
ranks_of_job=$(pgrep -P $job)
kill -STOP $ranks_of_job
sleep 5
kill -CONT $ranks_of_job
wait $job || fail "suspended: code $?: $(tail -n 3 suspended.log)"
expect_equal suspended whole
