#!/usr/bin/env bash
# translate, score and rescore that are killed at random moments, by SIGTERM and SIGKILL, and repeated on changing numbers of ranks, write
# the bytes of an undisturbed command. What an unfinished output was not made from is refused. KILLS is the number of kills of each command,
# and MODEL has options of train: a larger model takes longer for LINES_OF_TEXT lines.
# shellcheck disable=SC2046,SC2086  # what train_arguments prints and MODEL are split into the arguments of a command
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
KILLS=${KILLS:-4} LINES_OF_TEXT=${LINES_OF_TEXT:-20000}
SEED=${SEED:-$(date +%s)}
RANDOM=$SEED
echo "KILLS=$KILLS LINES_OF_TEXT=$LINES_OF_TEXT SEED=$SEED"
ln -s "$RNNSEARCH" program # whose ranks can be told from those of other tests
make_corpus
"$RNNSEARCH" $(train_arguments run 20) ${MODEL:-} 2>/dev/null
"$RNNSEARCH" $(train_arguments other 21) ${MODEL:-} 2>/dev/null
seed=$SEED
for side in source target; do
  awk -v seed=$((seed++)) -v lines="$LINES_OF_TEXT" 'BEGIN {
    srand(seed)
    for (i = 0; i < lines; ++i) {
      line = 1 + int(10 * rand())
      for (more = int(12 * rand()); more > 0; --more) line = line " " 1 + int(10 * rand())
      print line
    }
  }' >$side
done
awk '{print NR - 1 " ||| " $0 " ||| F= 1 ||| 1"}' target >list
declare -A arguments=(
  [translate]="translate --model run --beam 4 --retry-below 0 --threads 1 --input source --output result"
  [score]="score --model run --source source --target target --batch-sentences 20 --threads 1 --output result"
  [rescore]="rescore --list list --model run --source source --batch-sentences 20 --threads 1 --weight F=1 --weight run=0.1
    --output result --n-best-output result-list"
)
lines_done() { sed -n 's/.*"lines": \([1-9][0-9]*\).*/\1/p' result.partial.json 2>/dev/null || true; }
unfinished() { [[ -n $(lines_done) ]]; }
for command in ${COMMANDS:-translate score rescore}; do
  rm -f result result-list whole whole-list
  begun=$EPOCHREALTIME
  "$RNNSEARCH" ${arguments[$command]} 2>err || fail "$command: $(<err)"
  whole_time=$(bc <<<"$EPOCHREALTIME - $begun")
  for file in result*; do mv "$file" "whole${file#result}"; done
  kills=0 continued=0 texts=1 begun=$EPOCHREALTIME
  while ((kills < KILLS)); do
    ranks=$((1 + kills % 3)) launcher=() signal=TERM code=0
    ((ranks == 1)) || launcher=(mpirun -n "$ranks")
    ((kills % 2)) || signal=KILL
    before=$(lines_done)
    setsid "${launcher[@]}" "$PWD/program" ${arguments[$command]} 2>err &
    job=$!
    # An event, not a time: the record of the first portion that this attempt wrote; then a random moment, so that the kills are
    # spread over the work.
    while kill -0 $job 2>/dev/null && [[ $(lines_done) == "$before" ]]; do sleep 0.01; done
    sleep "$(bc <<<"scale=3; 2 * $RANDOM / 32768 * $whole_time / ($KILLS + 1)")"
    kill -$signal -- -$job 2>/dev/null || true
    wait $job || code=$?
    ! pkill -KILL -f "^$PWD/program " || sleep 0.2 # ranks outlive a launcher that is killed; SLURM kills them all
    if ((code == 0)); then # it was done before; begin anew
      cmp result whole || fail "$command differs"
      rm -f result result-list
      texts=$((texts + 1))
    fi
    ! unfinished || continued=$((continued + 1))
    kills=$((kills + 1))
  done
  "$RNNSEARCH" ${arguments[$command]} 2>err || fail "$command: $(<err)"
  echo "$command: $whole_time s for a text undisturbed, $(bc <<<"$EPOCHREALTIME - $begun") s for $texts with $KILLS kills; $continued left something to continue"
  for file in whole*; do cmp "result${file#whole}" "$file" || fail "$command, killed $KILLS times, writes other bytes"; done
  ((continued > 0)) || fail "$command was never interrupted, so this shows nothing"
  [[ -z $(find . -name '*.partial*') ]] || fail "left behind: $(ls -A)"
done

# What differs is said, and nothing is lost.
rm -f result
translate=(translate --model run --beam 4 --threads 1 --input source --output result)
"$RNNSEARCH" "${translate[@]}" 2>err &
job=$!
while kill -0 $job && ! unfinished; do sleep 0.01; done
kill -KILL $job
wait $job || true
unfinished || fail "nothing is unfinished: $(<err)"
echo 1 >>result.partial # what a command wrote whose record was not written yet
rm -f .*.tmp-* # half a file, if it was killed while it wrote one; the next command removes it
refused 1 "--beam 4, but this one has 5|remove result.partial and result.partial.json" "$RNNSEARCH" "${translate[@]/4/5}"
refused 1 "--model" "$RNNSEARCH" "${translate[@]/run/other}"
sed 1d source >shorter
refused 1 "shorter: its first|are not those|give the same text" "$RNNSEARCH" "${translate[@]/source/shorter}"
head -n 3 source >few
refused 1 "few has 3 lines" "$RNNSEARCH" "${translate[@]/source/few}"
exec 8<result.partial
flock -x 8
refused 1 "another process is writing it" "$RNNSEARCH" "${translate[@]}"
exec 8<&-
cp result.partial.json record
sed -i 's/"--beam": "4"/"--bean": "4"/' result.partial.json
refused 1 "begun by a command with --bean 4, which this one does not have" "$RNNSEARCH" "${translate[@]}"
sed 's/"--beam": "4",*//' record >result.partial.json
refused 1 "begun by a command without --beam, but this one has 4" "$RNNSEARCH" "${translate[@]}"
sed 's/"bytes": \[/&7, /' record >result.partial.json
refused 1 "begun by a command with 2 output files, but this one has 1" "$RNNSEARCH" "${translate[@]}"
rm result.partial.json
refused 1 "exists without result.partial.json, so it cannot be continued" "$RNNSEARCH" "${translate[@]}"
cp record result.partial.json
cp result.partial half
truncate -s 1 result.partial
refused 1 "result.partial has 1 bytes|were written; remove both files" "$RNNSEARCH" "${translate[@]}"
cp half result.partial
cat source source >longer
"$RNNSEARCH" "${translate[@]/source/longer}" 2>err || fail "a text that has grown: $(<err)"
grep -q 'continues after line' err || fail "it does not say that it continues: $(<err)"
[[ $(wc -l <result) == $((2 * LINES_OF_TEXT)) ]] || fail "$(wc -l <result) lines"
