#!/usr/bin/env bash
# A run that is killed many times, while it starts, computes or writes a checkpoint, and resumed each time ends with the
# parameters, the optimiser and the state of an undisturbed run. On one rank and on two.
# shellcheck disable=SC2046  # what train_arguments prints is split into the arguments of a command
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
RANDOM=20140901
make_corpus

# stop_while_writing PROCESS RUN: stops the process while it writes a checkpoint
stop_while_writing() {
  local state
  until kill -STOP "$1" && state=$(ps -o stat= -p "$1") && [[ $state == T* && -n $(find "$2" -name '.update-*.tmp-*') ]]; do
    kill -CONT "$1" || fail "$2 ended by itself: $(tail -1 killed.log)"
    sleep 0.00$((RANDOM % 10))
  done
}

# kill_and_resume RUN KILLS LAUNCHER...
kill_and_resume() {
  local run=$1 kills=$2 kill before wanted job ranks updates
  shift 2
  temporaries=0
  for ((kill = 1; kill <= kills; ++kill)); do
    # A checkpoint after every update, so that the run spends most of its time writing them.
    "$@" $(train_arguments "$run" $endless) --checkpoint-every 1 2>>killed.log &
    job=$!
    before=$(lines_of_log "$run")
    # Every fourth kill comes at any time, even during the start. The others come when the log has grown by some lines (three per
    # update): every fourth of them during the writing of a checkpoint, the rest after a random time.
    wanted=$((kill % 4 == 0 ? 0 : 1 + RANDOM % 12))
    while kill -0 $job 2>/dev/null && (($(lines_of_log "$run") < before + wanted)); do sleep 0.005; done
    if ((kill % 4 == 2)); then
      stop_while_writing "$(if (($# == 1)); then echo $job; else rank_of $job 0; fi)" "$run"
    else
      sleep "0.$(printf %03d $((RANDOM % (wanted == 0 ? 900 : 60))))"
    fi
    # mpirun and its ranks together, each by its number
    mapfile -t ranks < <(pgrep -P $job)
    kill -KILL $job "${ranks[@]}" 2>/dev/null || fail "it ended by itself: $(tail -1 killed.log)"
    wait $job 2>/dev/null && fail "it ended by itself: $(tail -1 killed.log)"
    until_gone "${ranks[@]}"
    temporaries=$((temporaries + $(find "$run" -name '.update-*.tmp-*' | wc -l)))
  done
  updates=$(($(newest_update "$run") + 10))
  "$@" $(train_arguments "$run" $updates) --checkpoint-every 1 2>>killed.log ||
    fail "it could not go on: $(tail -1 killed.log)"
  "$@" $(train_arguments "uninterrupted-$run" $updates) 2>uninterrupted.log || fail "the run was not even interrupted"
  expect_equal "$run" "uninterrupted-$run"
  [[ -z $(find "$run" -name '.*.tmp-*') ]] || fail "a temporary of a killed attempt is still there"
  echo "$run: $kills kills, $temporaries of them while a checkpoint was written, $updates updates"
}

kill_and_resume alone 12 "$RNNSEARCH"
one=$temporaries
kill_and_resume together 10 mpirun -n 2 "$RNNSEARCH"
((one + temporaries > 0)) || fail "no kill came while a checkpoint was written, so this test shows less than it says"
