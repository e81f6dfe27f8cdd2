#!/usr/bin/env bash
# SIGTERM or SIGUSR1 ends translate, score, align and evaluate with code 85 and one line wherever they wait: for a named pipe that
# nobody opens for writing or whose writer is silent, for a configuration, and during one long sentence.
# shellcheck disable=SC2046  # what train_arguments prints is split into the arguments of a command
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
"$RNNSEARCH" $(train_arguments run 5) 2>/dev/null
mkfifo silent unopened
sleep 10000 >silent &
writer=$!

# stopped RANKS CONDITION ARGUMENTS...: starts the program and sends the signal when the condition holds. Kills it if it does not react
# in a time that is long for any machine.
stopped() {
  local ranks=$1 condition=$2 launcher=() signal=TERM job watchdog code=0 said
  shift 2
  ((ranks == 1)) || launcher=(mpirun -n "$ranks") signal=USR1  # mpirun passes USR1 on, and ends at TERM
  "${launcher[@]}" "$RNNSEARCH" "$@" </dev/null >out 2>err &
  job=$!
  { sleep "${patience:-120}" && kill -KILL $job $(pgrep -P $job); } &
  watchdog=$!
  until_caught $job "$ranks"
  while kill -0 $job 2>/dev/null && ! eval "$condition"; do sleep 0.01; done
  kill -$signal $job 2>/dev/null || true
  wait $job || code=$?
  kill $(pgrep -P $watchdog) $watchdog 2>/dev/null || true
  wait $watchdog 2>/dev/null || true
  said=$(grep '^rnnsearch ' err || true)
  [[ $code == 85 ]] || fail "$ranks ranks, $*: code $code: $(<err)"
  [[ $(wc -l <<<"$said") == 1 && $said == *"a signal asked to stop"* ]] || fail "$ranks ranks, $*: not one sentence: $(<err)"
  [[ ! -s out ]] || fail "$ranks ranks, $*: printed $(head -c 200 out)"
}
# Whether FILE is open in the program, or in its first rank.
reads() {
  local pid pids=$job
  ((ranks == 1)) || pids=$(pgrep -P "$job" || true)
  for pid in $pids; do
    [[ -z $(find "/proc/$pid/fd" -lname "$PWD/$1" 2>/dev/null) ]] || return 0
  done
  return 1
}
model=(--model run --threads 1)
for ranks in 1 2; do
  for pipe in silent unopened; do
    stopped $ranks "reads $pipe" translate "${model[@]}" --input $pipe
    stopped $ranks "reads $pipe" score "${model[@]}" --source $pipe --target text/dev.target
    stopped $ranks "reads $pipe" align "${model[@]}" --source text/dev.source --target $pipe
  done
done
stopped 1 "reads silent" align "${model[@]}" --source text/dev.source --target text/dev.target --gold silent
stopped 1 "reads unopened" evaluate --hypotheses unopened --references text/dev.target
stopped 1 "reads silent" translate "${model[@]}" --config silent

# A sentence whose translation would take hours.
for _ in {1..3000}; do head -n 1 text/dev.source; done | tr "\n" " " >long
echo >>long
has_begun() { [[ -e output.partial ]]; }
for ranks in 1 2; do
  for maximum in 0 1000; do  # whole, in parts
    stopped $ranks has_begun translate "${model[@]}" --beam 500 --minimum-length-ratio 90 \
      --maximum-length-ratio 100 --maximum-source-length $maximum --input long --output output
  done
  [[ ! -e output && ! -e output.partial && ! -e output.partial.json ]] || fail "something was written"
done
kill $writer
