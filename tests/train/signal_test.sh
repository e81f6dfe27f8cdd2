#!/usr/bin/env bash
# SIGTERM and SIGUSR1 end a training with a checkpoint and exit code 85, on one rank and under mpirun (which passes USR1 on to the
# ranks), at any time from the start of the program to its end; the run then resumes and ends like an undisturbed one.
# shellcheck disable=SC2046  # what train_arguments prints is split into the arguments of a command
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
RANDOM=20140903
make_corpus

# run_and_signal RUN UPDATES SIGNAL RANKS LINES DELAY LAUNCHER...: starts the run, waits until all ranks handle the signal, until the log
# has grown by LINES lines, and for DELAY; sends the signal; sets `code`
run_and_signal() {
  local run=$1 updates=$2 signal=$3 ranks=$4 lines=$5 delay=$6 job
  shift 6
  lines=$((lines + $(lines_of_log "$run")))
  "$@" $(train_arguments "$run" "$updates") 2>>"$run.log" &
  job=$!
  until_caught "$job" "$ranks"
  while kill -0 $job 2>/dev/null && (($(lines_of_log "$run") < lines)); do sleep 0.005; done
  sleep "$delay"
  kill -"$signal" $job 2>/dev/null || true # the run may be done
  code=0
  wait $job || code=$?
}

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
  local run=$1 signal=$2 ranks=$3
  shift 3
  run_and_signal "$run" $endless "$signal" "$ranks" 5 0 "$@"
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
  code=0
  wait $job || code=$?
  [[ $code == 85 && ! -e early ]] || fail "at the start, '$launcher': code $code, $(ls early 2>&1): $(tail -3 early.log)"
  [[ $(grep -c '^rnnsearch train: a signal asked to stop' early.log) == 1 ]] || fail "one sentence: $(<early.log)"
done
# A signal to one rank ends all ranks together.
"$MPIEXEC" -n 2 "$RNNSEARCH" $(train_arguments one-of-two $endless) 2>>one-of-two.log &
job=$!
until_caught $job 2
kill -TERM "$(rank_of $job 1)"
code=0
wait $job || code=$?
[[ $code == 85 ]] || fail "TERM at one rank of two: code $code: $(<one-of-two.log)"

# milliseconds_of_a_short_run RANKS LAUNCHER...: the time from when all ranks handle the signal to the end of a run of one update
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

# Many signals: every other one at a random moment of the start of the program, whose duration is measured, the others when the log has
# grown; the last ones near the end of a run.
at_any_moment() {
  local run=$1 ranks=$2 attempts=0 early start delay updates
  shift 2
  start=$(milliseconds_of_a_short_run "$ranks" "$@")
  ((start < 1000)) || start=1000 # a start that had to wait for a processor does not predict the next one
  while ((attempts < 8)); do
    attempts=$((attempts + 1))
    delay=$(((attempts % 2 ? 10 : start) * (RANDOM % 100) / 100))
    run_and_signal "$run" $endless USR1 "$ranks" $((attempts % 2 * (1 + RANDOM % 75))) \
      "$((delay / 1000)).$(printf %03d $((delay % 1000)))" "$@"
    [[ $code == 85 ]] || fail "$run, attempt $attempts: code $code: $(tail -3 "$run.log")"
  done
  early=$(grep -c '^rnnsearch train: a signal asked to stop' "$run.log" || true)
  updates=$(newest_update "$run")
  while ((attempts < 11)); do
    attempts=$((attempts + 1)) updates=$(((updates / 7 + 1) * 7)) # at an update where the undisturbed run validates, too
    run_and_signal "$run" $updates USR1 "$ranks" $((1 + RANDOM % 8)) 0.0$((RANDOM % 3)) "$@"
    # mpirun removes its handlers when its ranks have ended: a signal that comes later ends mpirun, but the run is done
    [[ $1 != "$MPIEXEC" || $code != 138 ]] || ! tail -1 "$run.log" | grep -q 'max-updates reached' || code=0
    [[ $code == 85 || $code == 0 ]] || fail "$run, attempt $attempts: code $code: $(tail -3 "$run.log")"
  done
  goes_on "$run" "$@"
  echo "$run: $attempts signals, $early of them before the training began"
}
at_any_moment often-two 2 "$MPIEXEC" -n 2 "$RNNSEARCH"
