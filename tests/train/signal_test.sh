#!/usr/bin/env bash
# SIGTERM and SIGUSR1 end a training with a checkpoint and code 85, on one rank and under mpirun (which passes USR1 on to
# the ranks), whenever they come from the start of the program to its end; and the run goes on as if nothing had been.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
export OMPI_MCA_ess_singleton_isolated=1 # a process that is alone starts no daemon
RANDOM=20140903
make_corpus

"$RNNSEARCH" $(train_arguments whole 400) 2>/dev/null
mpirun -n 2 "$RNNSEARCH" $(train_arguments whole-of-two 400) 2>/dev/null

# run_and_signal RUN SIGNAL RANKS LINES DELAY LAUNCHER...: starts it, waits until all ranks catch the signal, then until the
# log has grown by so many lines, then a while; sends the signal; sets `code`
run_and_signal() {
  local run=$1 signal=$2 ranks=$3 lines=$4 delay=$5 job
  shift 5
  lines=$((lines + $(lines_of_log "$run")))
  "$@" $(train_arguments "$run" 400) 2>>"$run.log" &
  job=$!
  until_caught "$job" "$ranks"
  while kill -0 $job 2>/dev/null && (($(lines_of_log "$run") < lines)); do sleep 0.005; done
  sleep "$delay"
  kill -"$signal" $job 2>/dev/null || true # done by then
  code=0
  wait $job || code=$?
}

# In the middle of it.
stop_and_resume() {
  local run=$1 whole=$2 signal=$3 ranks=$4
  shift 4
  run_and_signal "$run" "$signal" "$ranks" 5 0 "$@"
  [[ $code == 85 ]] || fail "$run: expected code 85 after $signal, found $code: $(tail -3 "$run.log")"
  grep -q '"event":"signal"' "$run/log.jsonl" || fail "$run: log.jsonl does not tell of the signal"
  [[ -s $(last_checkpoint "$run") ]] || fail "$run: no checkpoint"
  "$@" $(train_arguments "$run" 400) 2>>"$run.log"
  grep -q 'goes on from' "$run.log" || fail "$run: it began anew"
  expect_equal "$run" "$whole"
}
stop_and_resume terminated whole TERM 1 "$RNNSEARCH"
stop_and_resume told whole USR1 1 "$RNNSEARCH"
stop_and_resume two whole-of-two USR1 2 mpirun -n 2 "$RNNSEARCH"

# Before anything was read: the run's folder is not even made.
for launcher in "" "mpirun -n 2"; do
  run_and_signal early USR1 $((${#launcher} > 0 ? 2 : 1)) 0 0 $launcher "$RNNSEARCH"
  [[ $code == 85 && ! -e early ]] || fail "at the start, '$launcher': code $code, $(ls early 2>&1): $(tail -3 early.log)"
  [[ $(grep -c '^rnnsearch train: a signal asked to stop' early.log) == 1 ]] || fail "one sentence: $(<early.log)"
  rm early.log
done
# At one rank alone: all leave together.
mpirun -n 2 "$RNNSEARCH" $(train_arguments one-of-two 400) 2>>one-of-two.log &
job=$!
until_caught $job 2
kill -TERM "$(pgrep -P $job | tail -1)"
code=0
wait $job || code=$?
[[ $code == 85 ]] || fail "TERM at one rank of two: code $code: $(<one-of-two.log)"

# milliseconds_of_a_short_run RANKS LAUNCHER...: from when all ranks catch the signal to the end of a run of one update
milliseconds_of_a_short_run() {
  local ranks=$1 job began
  shift
  rm -rf short
  "$@" $(train_arguments short 1) 2>/dev/null &
  job=$!
  until_caught "$job" "$ranks"
  began=$(date +%s%3N)
  wait $job
  echo $(($(date +%s%3N) - began))
}

# Again and again: every other time at any moment of a program's start, else once the log has grown by up to a sixth of what
# the whole run writes. Both are measured, so that a faster processor is not done before the signals are.
at_any_moment() {
  local run=$1 whole=$2 ranks=$3 attempts=0 early=0 lines start delay
  shift 3
  lines=$(($(lines_of_log "$whole") / 6))
  start=$(milliseconds_of_a_short_run "$ranks" "$@")
  code=85
  while [[ $code == 85 ]] && ((attempts < 14)); do
    attempts=$((attempts + 1))
    delay=$(((attempts % 2 ? 10 : start) * (RANDOM % 100) / 100))
    run_and_signal "$run" USR1 "$ranks" $((attempts % 2 * (1 + RANDOM % lines))) \
      "$((delay / 1000)).$(printf %03d $((delay % 1000)))" "$@"
    # mpirun gives up its handlers once its ranks have left: a signal that comes then ends mpirun, and finds a run that is done
    [[ $1 != mpirun || $code != 138 ]] || ! tail -1 "$run.log" | grep -q 'max-updates reached' || code=0
    [[ $code == 85 || $code == 0 ]] || fail "$run, attempt $attempts: code $code: $(tail -3 "$run.log")"
  done
  early=$(grep -c '^rnnsearch train: a signal asked to stop' "$run.log" || true)
  "$@" $(train_arguments "$run" 400) 2>>"$run.log" || fail "$run: it could not go on: $(tail -1 "$run.log")"
  expect_equal "$run" "$whole"
  ((attempts > 3 && early < attempts - 1)) || fail "$run was done after $attempts signals, $early of them early, so this test shows less than it says"
  echo "$run: $attempts signals, $early of them before the training began"
}
at_any_moment often whole 1 "$RNNSEARCH"
at_any_moment often-two whole-of-two 2 mpirun -n 2 "$RNNSEARCH"
