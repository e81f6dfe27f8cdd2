#!/usr/bin/env bash
# The batch script's decisions, with a launcher and a scontrol that only write down what they are told.
set -euo pipefail

fail() {
  echo "$*"
  exit 1
}
mkdir bin
cat >bin/scontrol <<'END'
#!/usr/bin/env bash
echo "scontrol $*" >>calls
END
cat >bin/launch <<'END'
#!/usr/bin/env bash
echo "launch $*" >>calls
[[ -z ${WAIT_FOR_SIGNAL:-} ]] || {
  trap 'echo signalled >>calls; exit 85' USR1
  touch waiting
  for _ in {1..200}; do sleep 0.05; done
}
exit "${CODE:-0}"
END
chmod +x bin/*
export PATH=$PWD/bin:$PATH CONFIG=c.ini CORPUS=c.h5 RUN=run RNNSEARCH=rnnsearch LAUNCHER=launch
export SLURM_JOB_ID=7 SLURM_JOB_NODELIST=n[1-2]
script=$SOURCE/cluster/slurm/train.sbatch

check() {  # what it is about, exit code expected, calls expected; then the environment
  local what=$1 code=$2 calls=$3 status=0
  shift 3
  rm -f calls
  env "$@" bash "$script" >log 2>&1 || status=$?
  [[ $status == "$code" ]] || fail "$what: exit code $status, not $code: $(<log)"
  [[ $(<calls) == "$calls" ]] || fail "$what: called '$(<calls)', not '$calls'"
}
train='launch rnnsearch train --config c.ini --corpus c.h5 --run run'
requeue=$'\nscontrol requeue 7'
check "a training that is done" 0 "$train" CODE=0
check "a training stopped early" 85 "$train$requeue" CODE=85
check "a training stopped early, for the 100th time" 85 "$train$requeue" CODE=85 SLURM_RESTART_COUNT=100
check "a failure" 137 "$train$requeue" CODE=137
check "a failure that does not go away" 1 "$train" CODE=1 SLURM_RESTART_COUNT=20

for signal in USR1 TERM; do
  rm -f calls waiting
  WAIT_FOR_SIGNAL=1 bash "$script" >log 2>&1 &
  job=$!
  for _ in {1..100}; do [[ -e waiting ]] && break || sleep 0.05; done
  kill -"$signal" "$job"
  status=0
  wait "$job" || status=$?
  [[ $status == 85 ]] || fail "$signal: exit code $status, not 85: $(<log)"
  [[ $(<calls) == "$train"$'\nsignalled'"$requeue" ]] || fail "$signal: called '$(<calls)'"
done
env -u CORPUS bash "$script" >log 2>&1 && fail "it ran without CORPUS" || grep -q CORPUS log || fail "no word of CORPUS: $(<log)"
