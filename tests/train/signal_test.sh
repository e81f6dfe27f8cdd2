#!/usr/bin/env bash
# SIGTERM and SIGUSR1 end a run with a checkpoint and code 85, on one rank and under mpirun (which passes USR1 on to the
# ranks), and the run goes on as if nothing had been.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus

# stop_and_resume RUN SIGNAL LAUNCHER...
stop_and_resume() {
  local run=$1 signal=$2 code=0 job updates=400
  shift 2
  "$@" $(train_arguments "$run" $updates) 2>"$run.log" &
  job=$!
  for ((i = 0; i < 2000; ++i)); do
    [[ -e $run/log.jsonl ]] && (($(wc -l <"$run/log.jsonl") >= 5)) && break
    sleep 0.01
  done
  kill -"$signal" $job
  wait $job || code=$?
  [[ $code == 85 ]] || fail "$run: expected code 85 after $signal, found $code: $(tail -3 "$run.log")"
  grep -q '"event":"signal"' "$run/log.jsonl" || fail "$run: log.jsonl does not tell of the signal"
  [[ -s $(last_checkpoint "$run") ]] || fail "$run: no checkpoint"
  "$@" $(train_arguments "$run" $updates) 2>>"$run.log"
  grep -q 'goes on from' "$run.log" || fail "$run: it began anew"
}

"$RNNSEARCH" $(train_arguments whole 400) 2>/dev/null
stop_and_resume terminated TERM "$RNNSEARCH"
expect_equal terminated whole
stop_and_resume told USR1 "$RNNSEARCH"
expect_equal told whole
mpirun -n 2 "$RNNSEARCH" $(train_arguments whole-of-two 400) 2>/dev/null
stop_and_resume two USR1 mpirun -n 2 "$RNNSEARCH"
expect_equal two whole-of-two
