#!/usr/bin/env bash
# A run that is killed many times while it writes a checkpoint, and resumed each time, ends with the parameters, the optimiser and the
# state of an undisturbed run that writes its checkpoints synchronously. The checkpoints take many updates to write, so that every kill
# comes while updates continue beside a write. (Kills of several ranks, and at other moments: shards_test.sh and torture_test.sh.)
#
#   BACKGROUND_KILLS=500 RNNSEARCH=/path/to/build/rnnsearch SOURCE=/path/to/project bash tests/train/kill_test.sh
#                                       more kills, in an empty folder; some 20 minutes on two cores and /dev/shm
# shellcheck disable=SC2046  # what train_arguments prints is split into the arguments of a command
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
: "${BACKGROUND_KILLS:=6}"
RANDOM=20140901
make_corpus

# large_arguments RUN UPDATES: prints arguments for a model whose checkpoints of some 10 MB take longer to write than the updates between them
interval=4 # updates between checkpoints
large_arguments() {
  echo train --corpus large.h5 --run "$1" --max-updates "$2" --embedding 32 --state 24 --alignment 16 --maxout 12 --optimizer adam \
    --learning-rate 0.001 --gradient-of word --batch-sentences 4 --validate-every 10 --validate-bleu false --checkpoint-every $interval \
    --checkpoint-minutes 0 --log-every 1 --threads 1 --precision f32
}

# stop_in_background_write PROCESS RUN: stops the process at a random moment of the writing of a checkpoint; sets `own`, its temporary
stop_in_background_write() {
  while true; do
    own=("$2"/checkpoints/.update-*.tmp-*-"$1".*)
    if [[ ! -e ${own[0]} ]]; then
      kill -0 "$1" 2>/dev/null || fail "$2 ended by itself: $(tail -1 killed.log)"
      sleep 0.002
      continue
    fi
    sleep "0.0$(printf %02d $((RANDOM % 50)))"
    kill -STOP "$1" || fail "$2 ended by itself: $(tail -1 killed.log)"
    until [[ $(ps -o stat= -p "$1") == T* ]]; do sleep 0.001; done
    [[ ! -e ${own[0]} ]] || return 0
    kill -CONT "$1"
  done
}

# last_logged RUN EVENT: prints the largest update of such lines, or 0
last_logged() {
  sed -n "s/^{\"event\":\"$2\",\"update\":\([0-9]*\),.*}\$/\1/p" "$1/log.jsonl" | sort -n | tail -n 1 | grep . || echo 0
}

# kill_while_writing RUN KILLS
kill_while_writing() {
  local run=$1 kills=$2 kill job wanted before=0 there newest own writing ahead=0 updates
  for ((kill = 1; kill <= kills; ++kill)); do
    "$RNNSEARCH" $(large_arguments "$run" $endless) 2>>killed.log &
    job=$!
    # in the writing of the first checkpoint of this attempt, or of the next one
    wanted=$((before + RANDOM % 2 * interval))
    while kill -0 $job 2>/dev/null && [[ ! -e $run/log.jsonl || $(last_logged "$run" checkpoint) -lt $wanted ]]; do sleep 0.02; done
    stop_in_background_write $job "$run"
    writing=${own[0]##*/.update-} writing=$((10#${writing%%.*}))
    kill -KILL $job
    wait $job 2>/dev/null && fail "it ended by itself: $(tail -1 killed.log)"
    ((writing == $(last_logged "$run" update))) || ahead=$((ahead + 1))
    # Nothing is lost but what was done since the last whole checkpoint: at most the interval before the one that was being written, and
    # the interval after it, at whose end training waits for it.
    there=0 newest=$(find "$run/checkpoints" -name 'update-*.h5' | sort | tail -n 1)
    if [[ -n $newest ]]; then
      "$RNNSEARCH" inspect "$newest" >inspected || fail "kill $kill: the newest checkpoint is damaged"
      [[ $(last_checkpoint "$run") -ef $newest ]] || "$RNNSEARCH" inspect "$(last_checkpoint "$run")" >inspected ||
        fail "kill $kill: the latest checkpoint is damaged"
      there=${newest##*update-} there=$((10#${there%.h5}))
    fi
    ((there >= before && there >= $(last_logged "$run" checkpoint) && there >= $(last_logged "$run" update) - 2 * interval)) ||
      fail "kill $kill: the newest checkpoint is $there, after $before, $(tail -n 3 "$run/log.jsonl")"
    before=$there
  done
  ! grep '^rnnsearch' killed.log || fail "see above"
  updates=$((before + 10))
  "$RNNSEARCH" $(large_arguments "$run" $updates) 2>>killed.log || fail "it could not go on: $(tail -1 killed.log)"
  "$RNNSEARCH" $(large_arguments "uninterrupted-$run" $updates) --synchronous-checkpoints 2>uninterrupted.log
  expect_equal "$run" "uninterrupted-$run"
  [[ -z $(find "$run" -name '.*.tmp-*') ]] || fail "a temporary of a killed attempt is still there"
  echo "$run: $kills kills in the writing of a checkpoint, $ahead of them after later updates, $updates updates"
}

# 10,000 words on each side
awk 'BEGIN { for (i = 0; i < 10000; ++i) printf "w%d%s", i, (i % 10 == 9 ? "\n" : " ") }' >large.text
"$RNNSEARCH" prepare --train-source large.text --train-target large.text --dev-source text/dev.source --dev-target text/dev.target \
  --source-words 10003 --target-words 10003 --tokenizer none --output large.h5 >/dev/null
kill_while_writing large "$BACKGROUND_KILLS"
