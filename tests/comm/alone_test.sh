#!/usr/bin/env bash
# Trainings and translations without a launcher start and end at random moments, in parallel with each other and with runs of mpirun;
# SIGTERM or SIGKILL ends some of them. None may fail, hang, or leave a file in TMPDIR.
#
#   tests/run.sh -R comm_alone          20 processes
#   COUNT=300 SEED=7 RNNSEARCH=/path/to/build/rnnsearch SOURCE=/path/to/project bash tests/comm/alone_test.sh
#                                       in an empty folder. As root, mpirun wants OMPI_ALLOW_RUN_AS_ROOT=1
#                                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
#
# SEED determines the commands, the signals that end them and their delays; without it, a seed is drawn. Delays only choose the
# moment: every check waits for the end of the process.
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
: "${COUNT:=20}" "${SEED:=$((RANDOM * 32768 + RANDOM))}" "${LANES:=4}"
echo "alone: COUNT=$COUNT SEED=$SEED LANES=$LANES"
source "$SOURCE/tests/train/support.sh"
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 RNNSEARCH_OVERSUBSCRIBE=1
limit=600  # seconds after which a process counts as hung

TMPDIR=$(mktemp -d /tmp/alone-XXXXXX)  # short: Open MPI keeps sockets in it
export TMPDIR
lanes=()
leave() {
  [[ -z $(jobs -p) ]] || kill $(jobs -p) 2>/dev/null || true
  rm -rf "$TMPDIR"
}
trap leave EXIT

make_corpus
for _ in {1..4}; do cat text/dev.source; done >source
train() { train_arguments "$1" "${2:-14}"; }
translate="translate --model model --input source --beam 4 --threads 1"
"$RNNSEARCH" $(train model 100) 2>err || fail "the training of the model: $(<err)"
# Milliseconds that each command takes alone; the delay of a signal is drawn up to twice that.
declare -A takes=()
begun=$(date +%s%N)
"$RNNSEARCH" $(train model-alone) 2>err || fail "the training alone: $(<err)"
takes[train]=$((($(date +%s%N) - begun) / 1000000)) begun=$(date +%s%N)
"$RNNSEARCH" $translate --output expected 2>err || fail "the translation alone: $(<err)"
takes[translate]=$((($(date +%s%N) - begun) / 1000000))
[[ -z $(ls -A "$TMPDIR") ]] || fail "a process without a launcher left in TMPDIR: $(ls -A "$TMPDIR")"

# ended PID WHAT: waits for the process to end and sets `code`
ended() {
  local since=$SECONDS
  { # bash prints a message about a process that SIGKILL ended
    while kill -0 "$1" && ((SECONDS - since < limit)); do sleep 0.02; done
  } 2>/dev/null
  ! kill -KILL "$1" 2>/dev/null || fail "$2 still runs after $limit s"
  code_of wait "$1"
}

# one LANE NUMBER: runs a command from start to end, and writes a line about its end to LANE/ends
one() {
  local lane=$1 name=$1/$2 kind=train signal=none delay code
  ((RANDOM % 2)) || kind=translate
  delay=$((RANDOM * takes[$kind] * 2 / 32768))
  case $((RANDOM % 4)) in 0) signal=TERM ;; 1) signal=KILL ;; esac
  if [[ $kind == train ]]; then
    "$RNNSEARCH" $(train "$name.run") >"$name.out" 2>"$name.err" &
  else
    "$RNNSEARCH" $translate --output "$name.translation" >"$name.out" 2>"$name.err" &
  fi
  local pid=$!
  if [[ $signal != none ]]; then
    sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
    kill -$signal $pid 2>/dev/null || true
  fi
  ended $pid "$kind"
  echo "$kind $signal $code" >>"$lane/ends"
  case $signal:$code in
    *:0)
      if [[ $kind == train ]]; then
        [[ $(basename "$(last_checkpoint "$name.run")") == *00000014.h5 ]] || fail "$name.run has no last checkpoint"
      else
        cmp "$name.translation" expected || fail "$name.translation is not what one alone writes"
      fi
      ;;
    TERM:85 | TERM:143 | KILL:137) ;; # 143: before it could catch the signal
    *) fail "$kind, after signal $signal: code $code: $(<"$name.err")" ;;
  esac
  ! grep MPI "$name.err" || fail "$kind speaks of MPI"
  rm -rf "$name".*
}

# What `mpirun -n 1` starts may itself start several processes, which inherit its variables.
cat >two-in-one <<END
set -e
"$RNNSEARCH" $translate --output beside.other & other=\$!
"$RNNSEARCH" $translate --output beside.out
wait \$other
cmp beside.out beside.other
END
mpiruns() {
  local number=0 pid code commands
  while ((number < 4)) || [[ ! -e all-ended ]]; do
    commands=("-n 2 $RNNSEARCH $(train beside.run)" "-n 1 $RNNSEARCH $translate --output beside.out"
      "-n 2 $RNNSEARCH $translate --output beside.out" "-n 1 bash two-in-one")
    mpirun ${commands[number % 4]} 2>beside.err >/dev/null &
    pid=$!
    ended $pid mpirun
    ((code == 0)) || fail "mpirun ${commands[number % 4]}: code $code: $(<beside.err)"
    ((number % 4 == 0)) || cmp beside.out expected || fail "mpirun's translation differs"
    rm -rf beside.*
    number=$((number + 1))
    echo $number >mpiruns
  done
}

for ((lane = 0; lane < LANES; ++lane)); do
  mkdir lane-$lane
  (
    RANDOM=$(((SEED + lane * 7919) % 32768))
    for ((i = lane; i < COUNT; i += LANES)); do one lane-$lane $i; done
  ) &
  lanes+=($!)
done
mpiruns &
beside=$!
failures=0
for pid in "${lanes[@]}"; do wait "$pid" || failures=$((failures + 1)); done
touch all-ended
wait $beside || failures=$((failures + 1))

sort lane-*/ends | uniq -c
left=$(find "$TMPDIR" -mindepth 1)
echo "alone: $(cat lane-*/ends | wc -l) processes without a launcher and $(<mpiruns) runs of mpirun; $failures lanes failed;" \
  "$(wc -w <<<"$left") files and folders left in TMPDIR"
((failures == 0)) || fail "SEED=$SEED: see above"
[[ -z $left ]] || fail "SEED=$SEED: TMPDIR is not empty: $left"
