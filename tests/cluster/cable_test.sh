#!/usr/bin/env bash
# Trainings over two hosts without SLURM, whose network is slow, fails for seconds, or fails for good. Each ends with the bits of an
# undisturbed training; in the last case cluster/run restarts it from the last checkpoint.
# shellcheck disable=SC2046  # what train_arguments prints is split into the arguments of a command
set -euo pipefail
lab=$SOURCE/tests/support/lab/lab
"$lab" check
source "$SOURCE/tests/train/support.sh"
cat >hosts <<'END_OF_HOSTS'
n1 slots=1
n2 slots=1
END_OF_HOSTS
export SITE=$SOURCE/cluster/site.sh LAUNCHER="mpirun --hostfile hosts --bind-to none" TRAIN_OPTIONS='' RNNSEARCH_OVERSUBSCRIBE=1
export PATIENCE_SECONDS=20 LOOK_SECONDS=1 RESTART_SECONDS=3 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
trap 'kill $(jobs -p) 2>/dev/null || true; "$lab" down' EXIT

# train RUN OPTIONS...: trains with cluster/run on n1
train() {
  "$lab" on n1 "$SOURCE/cluster/run" $(train_arguments "$1" 200) --checkpoint-every 40 "${@:2}" >"$1.log" 2>&1
}
until_true() { # SECONDS WHAT COMMAND...
  local i limit=$1 what=$2
  shift 2
  for ((i = 0; i < limit * 20; ++i)); do
    ! "$@" || return 0
    sleep 0.05
  done
  fail "$what: not within $limit s: $(tail -n 20 ./*.log)"
}

make_corpus
"$lab" up 2
train undisturbed || fail "no training at all: $(<undisturbed.log)"
grep -q '^\[comm\] .*n2.*: 1 rank' undisturbed.log || fail "the training did not run on two hosts: $(<undisturbed.log)"

"$lab" slow n2 10
train slow || fail "over a slow cable: $(<slow.log)"
"$lab" fast n2
expect_equal slow undisturbed

# Slows the cables, so that also a fast machine does not finish before the faults: an update sends 62 kB in each direction.
"$lab" slow n1 40
train cut &
until_true 400 "a training to cut" has_updates cut 60
"$lab" cut n2
stands_still() {
  local updates
  updates=$(wc -l <cut/log.jsonl)
  sleep 3
  [[ $(wc -l <cut/log.jsonl) == "$updates" ]] && kill -0 $!
}
until_true 4 "a training that goes on without its network" stands_still
"$lab" fast n1
"$lab" mend n2
wait $! || fail "cut for seconds: $(<cut.log)"
! grep -q 'resumes from' cut.log || fail "a network that was away for seconds ended the training: $(<cut.log)"
expect_equal cut undisturbed

"$lab" slow n1 40
train lost --stall-timeout 3 &
until_true 400 "a training to cut for good" has_updates lost 60
"$lab" cut n2
until_true 400 "a word of the rank that is late" grep -q 'rank 1 on n2 gives no sign of life' lost.log
until_true 400 "the end of an mpirun that lost a host" grep -q 'going on from the last checkpoint' lost.log
"$lab" fast n1
"$lab" mend n2
wait $! || fail "cut for good: $(<lost.log)"
grep -q 'resumes from lost/checkpoints' lost.log || fail "it began anew: $(<lost.log)"
expect_equal lost undisturbed
