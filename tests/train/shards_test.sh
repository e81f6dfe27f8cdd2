#!/usr/bin/env bash
# --reproducible-shards 12: 1, 2, 3 and 4 ranks, a run that was killed on 4 ranks and resumed on 3 and on 1, and runs with and without
# --overlap have the same parameters, averages, optimiser state, losses and validations, bit for bit. Numbers of ranks that do not
# divide 12 are refused.
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus

# Batches of 20 or 21 pairs: shards have one pair or two. The dev set is validated in four groups.
pairs=21 shards=12 threads=1
arguments() {
  train_arguments "$1" "$2" | sed "s/--batch-sentences 12/--batch-sentences $pairs/; s/--threads 1/--threads $threads/"
  echo --reproducible-shards $shards --dropout 0.2 --average-decay 0.9 --validate-sentences 5 --checkpoint-every 5
}
# Losses, norms and validations, as the log has them: the last line of each update, because some are done again after a kill.
figures() {
  perl -ne 'if (/"event":"(update|validation)","update":(\d+)/) {
              my $key = "$1 $2";
              my @found = /"(?:loss_per_word|gradient_norm|parameter_norm|learning_rate|pairs|bleu|chrf|best)":([^,}]*)/g;
              $line{$key} = "@found";
            }
            END { print "$_ $line{$_}\n" for sort keys %line }' "$1/log.jsonl"
}
expect_same() { # RUN RUN
  expect_equal "$1" "$2"
  h5diff "$(last_checkpoint "$1")" "$(last_checkpoint "$2")" /average /average || fail "the average differs between $1 and $2"
  diff <(figures "$1") <(figures "$2") || fail "the log of $1 differs from that of $2"
}

"$MPIEXEC" -n 4 "$RNNSEARCH" $(arguments killed $endless) 2>killed.log &
job=$!
while kill -0 $job 2>/dev/null && (($(lines_of_log killed) < 40)); do sleep 0.01; done
mapfile -t ranks < <(processes_of $job)
kill -KILL $job "${ranks[@]}" 2>/dev/null || fail "it ended by itself: $(tail -3 killed.log)"
wait $job 2>/dev/null && fail "it ended by itself: $(tail -3 killed.log)"
until_gone "${ranks[@]}"
update=$(newest_update killed)
on 3 killed $((update + 7 - update % 7)) # a validation is due, so that this limit adds none
updates=$((update + 21 - update % 7))
on 1 killed $updates
[[ $(sed -n 's/.*"event":"resume".*"ranks":\([0-9]*\).*/\1/p' killed/log.jsonl | tr '\n' ' ') == "3 1 " ]] ||
  fail "it was not resumed on 3 ranks and on 1: $(grep resume killed/log.jsonl)"

on 1 one $updates
grep -qF '12 shards of each batch, 12 for each rank' one.log || fail "the training does not say that it has shards: $(<one.log)"
[[ $(figures one | wc -l) == $((updates + updates / 7)) ]] || fail "the log is not as this test reads it: $(figures one | head -3)"
expect_same killed one
on 2 two $updates
expect_same two one
on 3 three $updates --overlap false
expect_same three one
threads=2 on 4 four $updates
expect_same four one
bytes() { sed -n 's/.*"megabytes_sent":\([^,]*\),.*/\1/p' "$1/log.jsonl" | tail -1; }
awk "BEGIN { exit !($(bytes one) == 0 && $(bytes two) > 0) }" || fail "one rank sent $(bytes one) MB, two $(bytes two)"

# It can fail: without shards, two ranks round otherwise than one.
for ranks in 1 2; do shards=0 on $ranks without$ranks 21; done
! h5diff -q "$(last_checkpoint without1)" "$(last_checkpoint without2)" /parameters /parameters ||
  fail "one rank and two have the same bits without shards, so this test shows nothing"

refused 2 "reproducible-shards = 12 on 5 ranks: each rank needs the same number of shards; start 1, 2, 3, 4, 6 or 12 ranks" \
  "$MPIEXEC" -n 5 "$RNNSEARCH" $(arguments refused 5)
