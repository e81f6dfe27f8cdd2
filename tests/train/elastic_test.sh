#!/usr/bin/env bash
# A run that starts on 4 ranks, is stopped, and resumes on 3, then 1, then 2 ranks trains on the same batches as an undisturbed run of
# one rank: the same pairs and words in every update, the same position in the data at the end. Only the rounding of sums over
# the ranks differs: losses and dev losses are equal to 1 part in 100,000.
# shellcheck disable=SC2046  # what train_arguments prints is split into the arguments of a command
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
updates=160 # more than three epochs of 50
# Adam divides small gradients by their own size, including their rounding errors; a larger rate would amplify the differences.
arguments() { train_arguments "$1" $updates | sed 's/--learning-rate 0.01/--learning-rate 0.002/'; }

"$RNNSEARCH" $(arguments whole) 2>whole.log

# on RANKS [LINES]: resumes on RANKS ranks and stops the run when its log has grown by LINES lines. False if the run was done before.
on() {
  local ranks=$1 lines=${2:-} job code=0 launcher=("$MPIEXEC" -n "$1")
  ((ranks > 1)) || launcher=()
  lines=$((${lines:-1000000} + $(lines_of_log elastic)))
  "${launcher[@]}" "$RNNSEARCH" $(arguments elastic) 2>>elastic.log &
  job=$!
  until_caught $job "$ranks"
  while kill -0 $job 2>/dev/null && (($(lines_of_log elastic) < lines)); do sleep 0.005; done
  kill -USR1 $job 2>/dev/null || true
  wait $job || code=$?
  if (($# == 2)) && { ((code == 0)) || tail -n 1 elastic/log.jsonl | grep -q 'max-updates reached'; }; then return 1; fi
  [[ $code == $([[ $# == 2 ]] && echo 85 || echo 0) ]] || fail "$ranks ranks: code $code: $(tail -3 elastic.log)"
}
# If this script had to wait for a processor, it may come too late to stop the ranks; then everything is repeated.
for ((attempt = 1; ; ++attempt)); do
  rm -rf elastic elastic.log
  ! on 4 25 || ! on 3 25 || ! on 1 25 || break
  ((attempt < 20)) || fail "it was done before it could be stopped, $attempt times: $(tail -3 elastic.log)"
done
on 2
[[ $(grep -c 'resumes from' elastic.log) == 3 ]] || fail "it did not go on three times: $(<elastic.log)"
[[ $(sed -n 's/.*"event":"resume".*"ranks":\([0-9]*\).*/\1/p' elastic/log.jsonl | tr '\n' ' ') == "3 1 2 " ]] ||
  fail "not on 3, 1 and 2 ranks: $(grep resume elastic/log.jsonl)"

# batches RUN: number of the update, pairs, words
batches() {
  sed -n 's/.*"event":"update","update":\([0-9]*\),.*"pairs":\([0-9]*\),"source_words":\([0-9]*\),"target_words":\([0-9]*\),.*/\1 \2 \3 \4/p' \
    "$1/log.jsonl"
}
[[ $(batches whole | wc -l) == "$updates" && $(batches whole | cut -d' ' -f 2- | sort -u | wc -l) -gt 20 ]] ||
  fail "the log does not tell batches apart: $(batches whole | head -5)"
diff <(batches whole) <(batches elastic) || fail "the batches differ"

losses() { sed -n 's/.*"event":"\(update\|validation\)","update":\([0-9]*\),.*"loss_per_word":\([^,]*\).*/\1 \2 \3/p' "$1/log.jsonl" | sort; }
paste -d' ' <(losses whole) <(losses elastic) |
  awk '{ if ($1 != $4 || $2 != $5) { print "not the same events: " $0; exit 1 }
         d = $3 / $6 - 1; d = d < 0 ? -d : d; worst = d > worst ? d : worst; n += 1 }
       END { printf "%d losses, at worst %.1e apart\n", n, worst; exit !(n > 160 && worst < 1e-5) }' || fail "the losses differ"

position() { state_of "$1" | awk '$1 ~ /"(update|epoch|pairs|validated_update)"/'; }
[[ $(position whole | wc -l) == 4 ]] || fail "the state has other names: $(state_of whole)"
diff <(position whole) <(position elastic) || fail "the position differs"
