#!/usr/bin/env bash
# SIGTERM and SIGUSR1 end translate, score, align and evaluate with code 85 and one line, also wherever they wait: for a named pipe that
# nobody opens for writing or whose writer is silent, for a configuration, and during one long sentence. Finished lines of a translation
# are kept, in order (resume_test.sh continues them); alignments and evaluations write nothing. --stop-before ends a training in time.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
on 1 run 20
for _ in {1..1000}; do cat text/dev.source; done >source
for _ in {1..1000}; do cat text/dev.target; done >target
search=(--model run --beam 12 --batch-sentences 2 --threads 1)
"$RNNSEARCH" translate "${search[@]}" --input source --output whole 2>/dev/null
[[ $(wc -l <whole) == 16000 ]] || fail "not all lines were translated"

# stop SIGNAL RANKS CONDITION ARGUMENTS...: starts the program and sends the signal when the condition holds; sets `said`. Starts the
# program again if it was done before the signal came, because this script had to wait for a processor.
stop() {
  local signal=$1 ranks=$2 condition=$3 launcher=() job code attempt
  shift 3
  ((ranks == 1)) || launcher=(mpirun -n "$ranks")
  for ((attempt = 1; ; ++attempt)); do
    rm -rf out err output output.partial output.partial.json links
    [[ $condition != at_gate ]] || exec 9<>gate
    "${launcher[@]}" "$RNNSEARCH" "$@" </dev/null >out 2>err 9>&- &
    job=$! code=0
    until_caught $job "$ranks"
    while kill -0 $job 2>/dev/null && ! eval "$condition"; do sleep 0.01; done
    kill -"$signal" $job 2>/dev/null || true # mpirun passes USR1 on, and ends at TERM
    while [[ $condition == at_gate ]] && kill -0 $job 2>/dev/null; do
      exec 9<>gate 9>&- # end of file, also for a rank that opens it later
      sleep 0.05
    done
    wait $job || code=$?
    ((code == 0 && attempt < 20)) || break
  done
  said=$(grep '^rnnsearch ' err || true)
  [[ $code == 85 ]] || fail "$*: code $code after $signal: $(<err)"
  [[ $(wc -l <<<"$said") == 1 && $said == *"a signal asked to stop"* ]] || fail "$*: not one sentence: $(<err)"
}
# Before anything was read: the program waits for the end of its configuration, which does not come, until it gets the signal.
mkfifo gate
at_gate() { true; }
lines_said() { sed -n 's/.*first \([0-9]*\) lines.*/\1/p' <<<"$said"; }
is_beginning() {  # FILE LINES: FILE is the first LINES lines of `whole`
  (($2 > 0 && $2 < 16000)) || fail "$2 lines of 16000: $said"
  cmp "$1" <(head -n "$2" whole) || fail "$1 is not the first $2 lines"
}

for ranks in 1 2; do
  # shellcheck disable=SC2016  # a condition, looked at later
  stop USR1 $ranks '[[ -s output.partial ]]' translate "${search[@]}" --input source --output output
  [[ ! -e output ]] || fail "what is not whole stands in the place of the whole"
  is_beginning output.partial "$(lines_said)"
  [[ $said == *"output.partial; repeat the command to continue"* ]] || fail "no word of output.partial: $said"
done
stop TERM 1 '[[ -s out ]]' translate "${search[@]}" --input source
is_beginning out "$(lines_said)"
[[ $said == *"continue with line $(($(lines_said) + 1)) of the input"* ]] || fail "no word of the line to continue with: $said"

# Pipes that nobody writes to.
mkfifo silent unopened
sleep 10000 >silent &
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
reads() { # PIPE: it is open in the program, or in its first rank
  local pid pids=$job
  ((ranks == 1)) || pids=$(pgrep -P "$job" || true)
  for pid in $pids; do
    [[ -z $(find "/proc/$pid/fd" -lname "$PWD/$1" 2>/dev/null) ]] || return 0
  done
  return 1
}
model=(--model run --threads 1)
while read -r ranks signal condition arguments; do
  # shellcheck disable=SC2086  # the arguments
  stop "$signal" "$ranks" "${condition/-/ }" ${arguments/MODEL/${model[*]}}
  [[ ! -s out ]] || fail "$arguments: printed $(head -c 200 out)"
done <<'END'
1 TERM reads-silent translate MODEL --input silent
2 USR1 reads-unopened translate MODEL --input unopened
1 TERM reads-unopened score MODEL --source unopened --target text/dev.target
2 USR1 reads-silent score MODEL --source silent --target text/dev.target
1 TERM reads-silent align MODEL --source text/dev.source --target silent
1 TERM reads-silent align MODEL --source text/dev.source --target text/dev.target --gold silent
1 TERM reads-unopened evaluate --hypotheses unopened --references text/dev.target
1 TERM reads-silent translate MODEL --config silent
1 USR1 at_gate translate MODEL --input source --output output --config gate
2 USR1 at_gate translate MODEL --input source --output output --config gate
END
# A sentence whose translation would take hours, whole and in parts.
for _ in {1..3000}; do head -n 1 text/dev.source; done | tr "\n" " " >long
echo >>long
for ranks in 1 2; do
  stop USR1 $ranks '[[ -e output.partial ]]' translate "${model[@]}" --beam 500 --minimum-length-ratio 90 --maximum-length-ratio 100 \
    --maximum-source-length $((1000 * ranks - 1000)) --input long --output output
done
[[ ! -e output && ! -e output.partial && ! -e output.partial.json ]] || fail "something was written before anything was translated"

# Commands that write all of their output or nothing.
yes "$(<text/dev.source)" | head -n 200000 >many-source || true
yes "$(<text/dev.target)" | head -n 200000 >many-target || true
stop USR1 2 'sleep 1.5' align "${model[@]}" --source many-source --target many-target --batch-sentences 1 --json - --pharaoh links
[[ ! -s out && ! -e links ]] || fail "align printed something"
stop USR1 1 'sleep 0.7' evaluate "${model[@]}" --corpus corpus.h5 --set dev --beam 1000 --batch-sentences 1 \
  --minimum-length-ratio 90 --maximum-length-ratio 100
[[ ! -s out ]] || fail "evaluate printed something"

# The job ends in some seconds, or later if a start takes that long.
read -ra train <<<"$(train_arguments timed "$endless")"
for seconds in 8 16 32 64 128; do
  rm -rf timed
  RNNSEARCH_END_TIME=$(($(date +%s) + seconds)) SLURM_JOB_END_TIME=nonsense code_of "$RNNSEARCH" "${train[@]}" --stop-before 0.05 2>err
  [[ ! -s timed/checkpoints/latest ]] || break
done
((code == 85)) || fail "--stop-before: code $code: $(tail -n 3 err)"
grep -q '^\[train\] will stop with a checkpoint before .* UTC, in .*: 0.05 minutes before the end that RNNSEARCH_END_TIME' \
  err || fail "it does not say when it will stop: $(<err)"
grep -q '"reason":"the job.s end is near"' timed/log.jsonl || fail "log.jsonl does not tell of it"
updates=$(sed -n 's/.*"event":"stop","update":\([0-9]*\),.*/\1/p' timed/log.jsonl)
[[ $(last_checkpoint timed) == *update-$(printf %08d "$updates").h5 ]] || fail "the last update is not in a checkpoint"
on 1 timed $((updates + 5))
on 1 whole-run $((updates + 5))
expect_equal timed whole-run

read -ra train <<<"$(train_arguments refused 2)"
refused 2 "RNNSEARCH_END_TIME|'tomorrow'|seconds since 1970" env RNNSEARCH_END_TIME=tomorrow "$RNNSEARCH" "${train[@]}"
