#!/usr/bin/env bash
# A run that is killed again and again, while it starts, computes, or writes a checkpoint, and resumed each time ends
# with the parameters, the optimiser and the state of the run that nobody killed. On one rank and on two.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
RANDOM=20140901
make_corpus

# kill_and_resume RUN UPDATES KILLS LAUNCHER...
kill_and_resume() {
  local run=$1 updates=$2 kills=$3 kill before wanted job
  shift 3
  "$@" $(train_arguments "uninterrupted-$run" "$updates") 2>uninterrupted.log || fail "the run was not even interrupted"
  temporaries=0
  for ((kill = 1; kill <= kills; ++kill)); do
    # A checkpoint after every update: most of the time one is being written.
    "$@" $(train_arguments "$run" "$updates") --checkpoint-every 1 2>>killed.log &
    job=$!
    before=$(lines_of_log "$run")
    # Every fourth kill comes at any time, even while it starts; the others once it went on by some lines of its log
    # (three an update), and a random time later.
    wanted=$((kill % 4 == 0 ? 0 : 1 + RANDOM % 12))
    while kill -0 $job 2>/dev/null && (($(lines_of_log "$run") < before + wanted)); do sleep 0.005; done
    sleep 0.$(printf %03d $((RANDOM % (wanted == 0 ? 900 : 60))))
    # mpirun and its ranks together, each by its number
    kill -KILL $job $(pgrep -P $job || true) 2>/dev/null || fail "it was done before it could be killed $kills times"
    wait $job 2>/dev/null && fail "it was done before it could be killed $kills times"
    temporaries=$((temporaries + $(find "$run" -name '.update-*.tmp-*' | wc -l)))
  done
  "$@" $(train_arguments "$run" "$updates") --checkpoint-every 1 2>>killed.log ||
    fail "it could not go on: $(tail -1 killed.log)"
  expect_equal "$run" "uninterrupted-$run"
  [[ -z $(find "$run" -name '.*.tmp-*') ]] || fail "a temporary of a killed attempt is still there"
  echo "$run: $kills kills, $temporaries of them while a checkpoint was written"
}

kill_and_resume alone 180 12 "$RNNSEARCH"
one=$temporaries
kill_and_resume together 140 10 mpirun -n 2 "$RNNSEARCH"
((one + temporaries > 0)) || fail "no kill came while a checkpoint was written, so this test shows less than it says"
