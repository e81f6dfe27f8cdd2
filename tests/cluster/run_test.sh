#!/usr/bin/env bash
# The decisions of cluster/run, with a stub launcher and stub SLURM commands that only record their calls.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
mkdir bin
for program in scontrol scancel; do
  printf '#!/usr/bin/env bash\necho "%s $*" >>calls\n' $program >bin/$program
done
cat >bin/squeue <<'END'
#!/usr/bin/env bash
case $* in
  *%e*) echo "${END_OF_JOB:-}" ;;
  *) echo "${STATE:-RUNNING None}" ;;
esac
END
cat >bin/launch <<'END'
#!/usr/bin/env bash
echo "launch $*" >>calls
echo "${RNNSEARCH_END_TIME:-none}" >end
echo "$HDF5_USE_FILE_LOCKING $SRUN_CPUS_PER_TASK" >surroundings
[[ $(ps -o sid= -p $$) -eq $$ ]] && echo alone >session || echo together >session
run=${RUN:-run}
[[ -z ${RESUMES:-} ]] || { mkdir -p run && echo "{\"event\":\"resume\",\"update\":$RESUMES}" >>run/log.jsonl; }
[[ -z ${CHECKPOINT:-} ]] || { mkdir -p run/checkpoints && echo "update-0000000$CHECKPOINT.h5" >run/checkpoints/latest; }
[[ -z ${PARTIAL:-} ]] || echo line >>"$PARTIAL.partial"
[[ -z ${WAIT_FOR_SIGNAL:-} ]] || {
  if [[ -n ${DEAF:-} ]]; then trap '' USR1 TERM; elif [[ -z ${NOT_YET:-} ]]; then trap 'echo signalled >>calls; exit 85' USR1; fi
  touch waiting
  for _ in {1..6000}; do sleep 0.05; done
}
[[ -z ${DESERTED:-} ]] || { # like an mpirun that has lost a host: its rank ends, mpirun does not
  trap '' USR1 TERM
  echo $$ >launcher
  rnnsearch 600 & # ends after cluster/run has looked for it
  until [[ -e looked ]]; do sleep 0.05; done
  kill -KILL $!
  sleep 600
}
[[ -z ${CODES:-} ]] || CODE=$(sed -n "$(grep -c launch calls)p" <<<"${CODES// /$'\n'}")
echo output
mkdir -p -- "$run"
[[ ${CODE:-0} != 0 ]] || echo "${LOG:-{\"event\":\"stop\",\"update\":9,\"reason\":\"max-updates reached\"\}}" >>"$run/log.jsonl"
exit "${CODE:-0}"
END
# Gives the launcher time to react to what it has lost.
# shellcheck disable=SC2016  # a script, which expands them itself
printf '#!/usr/bin/env bash\n%q "$@"\nstatus=$?\nsleep 0.5\nexit $status\n' "$(command -v pkill)" >bin/pkill
# Records that its answer was read.
cat >bin/ps <<END
#!/usr/bin/env bash
out=\$($(command -v ps) "\$@")
status=\$?
[[ -z \$out ]] || echo "\$out"
[[ "\$*" != *ppid=* || ! -s launcher ]] || ! grep -qE "^ *[0-9]+ +\$(<launcher) rnnsearch\$" <<<"\$out" || touch looked
exit \$status
END
# Sends a signal when `date` is called, if the process to signal is given.
cat >bin/date <<END
#!/usr/bin/env bash
if [[ -n \${INTERRUPT:-} && ! -e interrupted ]]; then
  touch interrupted
  until [[ -s interrupt ]]; do sleep 0.05; done
  kill -USR1 "\$(<interrupt)"
fi
exec $(command -v date) "\$@"
END
chmod +x bin/*
cp "$(command -v sleep)" bin/rnnsearch
export PATH=$PWD/bin:$PATH SITE=$SOURCE/cluster/site.sh RNNSEARCH=rnnsearch LAUNCHER=launch TRAIN_OPTIONS='' RESTART_SECONDS=0 LOOK_SECONDS=1
export SLURM_JOB_ID=7 SUBMITTED_JOB=7 SLURM_JOB_NODELIST="n[1-2]" SLURM_CPUS_PER_TASK=3
unset SLURM_ARRAY_TASK_ID SLURM_JOB_END_TIME RNNSEARCH_END_TIME SLURM_RESTART_COUNT

# check WHAT CODE CALLS ENVIRONMENT... -- ARGUMENTS...
check() {
  local what=$1 code=$2 calls=$3 status=0 environment=()
  shift 3
  while [[ $1 != -- ]]; do environment+=("$1") && shift; done
  shift
  rm -f calls
  touch calls
  env "${environment[@]}" "$SOURCE/cluster/run" "$@" >log 2>&1 || status=$?
  [[ $status == "$code" ]] || fail "$what: exit code $status, not $code: $(<log)"
  [[ $(<calls) == "$calls" ]] || fail "$what: called '$(<calls)', not '$calls': $(<log)"
}
train=(train --corpus c.h5 --run run)
launch="launch rnnsearch ${train[*]}"
requeue=$'\nscontrol requeue 7'

check "a training that is done" 0 "$launch" CODE=0 -- "${train[@]}"
[[ -e run.jobs/done ]] || fail "no mark of a training that is done"
[[ $(<surroundings) == "FALSE 3" ]] || fail "locks and CPUs are '$(<surroundings)'"
check "a training stopped early" 85 "$launch$requeue" CODE=85 -- "${train[@]}"
[[ ! -e run.jobs/done ]] || fail "a training that goes on is marked as done"
check "a training stopped early, for the 100th time" 85 "$launch$requeue" CODE=85 CHECKPOINT=1 SLURM_RESTART_COUNT=100 -- "${train[@]}"
rm -r run/checkpoints run.jobs/failures
check "a task of an array" 85 "$launch"$'\nscontrol requeue 5_2' CODE=85 SLURM_ARRAY_JOB_ID=5 SLURM_ARRAY_TASK_ID=2 -- \
  "${train[@]}"
check "a run folder named with = and /" 0 "launch rnnsearch train --run=run/" CODE=0 -- train --run=run/
[[ -e run.jobs/done ]] || fail "--run=run/ is another run than --run run"
check "no run folder" 2 "" CODE=0 -- train --corpus c.h5
check "a program in an image" 0 "launch enter -b /scratch rnnsearch ${train[*]}" CODE=0 "CONTAINER=enter -b /scratch" -- "${train[@]}"
check "a heterogeneous job" 2 "" CODE=0 SLURM_HET_SIZE=2 -- "${train[@]}"
grep -q 'heterogeneous job of 2 components' log || fail "no word of why a heterogeneous job is refused: $(<log)"
# A wrong command line is wrong the next time, too.
check "a wrong command line" 2 "$launch" CODE=2 -- "${train[@]}"
grep -q 'the command line is wrong' log || fail "no word of why it is not requeued: $(<log)"
check "a wrong command line in a chain" 2 "$launch" CODE=2 AFTER_STOP=chain -- "${train[@]}"
check "the next job of that chain" 1 "" CODE=2 AFTER_STOP=chain -- "${train[@]}"
check "a wrong command line without a scheduler" 2 "$launch" CODE=2 SLURM_JOB_ID= -- "${train[@]}"
check "a wrong command line of another command" 2 "launch rnnsearch evaluate --model m" CODE=2 -- evaluate --model m
rm -f run.jobs/failures

# A launcher that exits with 0 although, according to the log, the training is not done.
for why in "a signal asked to stop" "the job's end is near"; do
  check "mpirun that was ended, and says 0" 85 "$launch$requeue" CODE=0 \
    "LOG={\"event\":\"stop\",\"update\":7,\"reason\":\"$why\"}" -- "${train[@]}"
done
check "mpirun that was killed, and says 0" 1 "$launch$requeue" CODE=0 'LOG={"event":"update","update":7}' -- "${train[@]}"
[[ ! -e run.jobs/done ]] || fail "a training that was killed is marked as done"
rm run.jobs/failures

# Attempts that add no update requeue the job, but not for ever, however they end.
export MAX_FAILURES=2
for how in "137 137 137" "85 85 1" "0 1 1"; do # exit code of each attempt, of the job that is requeued, and of the one that gives up
  read -r code first second <<<"$how"
  check "an attempt without an update" "$first" "$launch$requeue" CODE="$code" LOG='{"event":"update"}' -- "${train[@]}"
  check "a second one" "$second" "$launch" CODE="$code" LOG='{"event":"update"}' SLURM_RESTART_COUNT=1 -- "${train[@]}"
  grep -q '2 attempts in a row added no update' log || fail "no word of why it gives up: $(<log)"
done
check "an attempt before the run has a log" 1 "launch rnnsearch train --run never$requeue" CODE=1 RUN=never -- train --run never
check "that job, requeued all the same" 1 "" SLURM_RESTART_COUNT=2 -- "${train[@]}"
check "that job, submitted again" 137 "$launch$requeue" CODE=137 -- "${train[@]}"
check "an attempt that adds an update" 137 "$launch$requeue" CODE=137 SLURM_RESTART_COUNT=1 CHECKPOINT=1 -- "${train[@]}"
check "one that does not" 1 "$launch$requeue" CODE=1 SLURM_RESTART_COUNT=2 CHECKPOINT=1 -- "${train[@]}"
[[ $(<run.jobs/failures) == "1 1" ]] || fail "the attempts are counted as $(<run.jobs/failures)"
check "one that only has the checkpoint of another run" 1 "$launch" CODE=85 RESUMES=6 CHECKPOINT=6 SLURM_RESTART_COUNT=3 -- "${train[@]}"
[[ $(<run.jobs/failures) == "2 "* ]] || fail "updates of another run are counted: $(<run.jobs/failures)"
export MAX_FAILURES=5

# A job that cluster/submit did not make is never requeued, and a chain's files are not its own.
for mark in SUBMITTED_JOB= SUBMITTED_JOB=6; do
  check "by hand in somebody's job" 85 "$launch" CODE=85 $mark -- "${train[@]}"
  check "by hand, failing" 0 "$launch"$'\n'"$launch" -u SLURM_JOB_NODELIST "CODES=1 0" $mark -- "${train[@]}"
  check "by hand, where jobs are chains" 85 "$launch" CODE=85 AFTER_STOP=chain $mark -- "${train[@]}"
done
echo 8 >run.jobs/jobs
check "a job whose training was submitted again" 85 "$launch" CODE=85 -- "${train[@]}"
grep -q 'submitted again, as job 8' log || fail "no word of the other job: $(<log)"
rm run.jobs/jobs

# What continues from OUTPUT.partial is requeued when it was stopped, as long as it adds lines.
translate=(translate --model m --output out)
check "a translation that was stopped" 85 "launch rnnsearch ${translate[*]}$requeue" CODE=85 PARTIAL=out -- "${translate[@]}"
check "one that adds no line" 1 "launch rnnsearch ${translate[*]}" CODE=85 MAX_FAILURES=1 SLURM_RESTART_COUNT=1 -- "${translate[@]}"
check "a translation that fails" 1 "launch rnnsearch ${translate[*]}" CODE=1 -- "${translate[@]}"
check "by hand" 85 "launch rnnsearch ${translate[*]}" CODE=85 SUBMITTED_JOB= -- "${translate[@]}"
check "its result is its output" 0 "launch rnnsearch translate --output $PWD/out" -- --result out translate
rescore="launch rnnsearch rescore --list l"
echo 'weights = "w" # learned' >w.ini
check "the result of rescore" 0 "$rescore --config w.ini --output $PWD/out" -- --result out rescore --list l --config w.ini
check "the result of rescore, a list" 0 "$rescore --n-best-output $PWD/out" -- --result out rescore --list l
check "a result in JSON" 0 "launch rnnsearch score --json -" -- --result out score --json -
[[ ! -e out.jobs ]] || fail "a folder is left: $(ls)"
check "a list that grows" 85 "$rescore --n-best-output out$requeue" CODE=85 PARTIAL=out SLURM_RESTART_COUNT=9 -- rescore --list l \
  --n-best-output out
check "another command, stopped at its fifth start" 1 "launch rnnsearch evaluate" CODE=85 SLURM_RESTART_COUNT=4 -- evaluate

# A job that is not RUNNING was cancelled, or is requeued by SLURM.
check "cancelled" 85 "$launch" CODE=85 "STATE=COMPLETING None" -- "${train[@]}"
check "at its time limit" 85 "$launch$requeue" CODE=85 "STATE=COMPLETING TimeLimit" -- "${train[@]}"

# Chains.
printf '%s\n' 6 7 8 >run.jobs/jobs
check "a chain's job, stopped early" 0 "$launch" AFTER_STOP=chain CODE=85 CHECKPOINT=8 -- "${train[@]}"
check "a chain's job, stopped without an update" 85 "$launch" AFTER_STOP=chain CODE=85 -- "${train[@]}"
check "a chain's job that fails" 9 "$launch" AFTER_STOP=chain CODE=9 -- "${train[@]}"
check "a chain's job that ends the training" 0 "$launch"$'\nscancel --state=PENDING 6 8' AFTER_STOP=chain CODE=0 -- "${train[@]}"
echo 7 >run.jobs/jobs
rm run.jobs/done
check "the only job of a chain" 0 "$launch" AFTER_STOP=chain CODE=0 -- "${train[@]}"
check "a chain's job when the training is done" 0 "" AFTER_STOP=chain CODE=0 -- "${train[@]}"
rm run.jobs/done
echo 5 8 >run.jobs/failures
check "a chain's job when the training failed too often" 1 "" AFTER_STOP=chain CODE=0 -- "${train[@]}"
echo 5 7 >run.jobs/failures
check "a chain's job after one that added updates before it was killed" 0 "$launch" AFTER_STOP=chain CODE=85 CHECKPOINT=9 -- "${train[@]}"
rm run.jobs/failures

# TRAIN_OPTIONS, except those that the command line sets.
check "options of every training" 0 "$launch --stop-before 5 --threads 2" "TRAIN_OPTIONS=--stop-before 5 --threads 2" -- \
  "${train[@]}"
check "one's own options" 0 "$launch --stop-before 9 --threads 2" "TRAIN_OPTIONS=--stop-before 5 --threads 2" -- \
  "${train[@]}" --stop-before 9

# The job's end.
check "the job's end" 0 "$launch" END_OF_JOB=2100-01-01T00:00:00 TZ=UTC -- "${train[@]}"
[[ $(<end) == 4102444800 ]] || fail "the end is $(<end)"
check "no end" 0 "$launch" END_OF_JOB=NONE -- "${train[@]}"
[[ $(<end) == none ]] || fail "no end is $(<end)"
check "an end that SLURM has told" 0 "$launch" END_OF_JOB=2100-01-01T00:00:00 SLURM_JOB_END_TIME=5 -- "${train[@]}"
[[ $(<end) == none ]] || fail "SLURM's own end is written over: $(<end)"

# Other commands are not requeued, and wait for trainings.
check "evaluate" 3 "launch rnnsearch evaluate --model run" CODE=3 -- evaluate --model run
rm -f run.jobs/done
check "evaluate, too early" 1 "" -- --after-run run evaluate --model run
grep -q 'the training run is not done' log || fail "no word of what is not done: $(<log)"
touch run.jobs/done
check "evaluate, in time" 0 "launch rnnsearch evaluate" -- --after-run run --result table evaluate
[[ $(<table) == output && ! -e table.unfinished ]] || fail "no result: $(ls)"
rm table
check "evaluate that fails" 1 "launch rnnsearch evaluate" CODE=1 -- --result table evaluate
[[ ! -e table ]] || fail "a result of a command that failed"
mkdir "a:b c.jobs"
check "a run with a colon, not done" 1 "" -- --after-run run --after-run "a:b c" evaluate
grep -q 'the training a:b c is not done' log || fail "no word of what is not done: $(<log)"
touch "a:b c.jobs/done"
check "a run with a colon, done" 0 "launch rnnsearch evaluate" -- --after-run run --after-run "a:b c" evaluate
# A result replaces a file or the target of a link, but nothing else.
ln -s file link
check "a result through a link" 0 "launch rnnsearch evaluate" -- --result link evaluate
[[ -L link && $(<file) == output ]] || fail "the link was replaced: $(ls -l)"
mkfifo pipe
mkdir folder
for place in pipe folder /dev/full /dev/stdout; do
  check "the result $place" 1 "" -- --result $place evaluate
  grep -q "\--result $place is not a regular file" log || fail "no word of why $place is refused: $(<log)"
done
[[ -p pipe && -c /dev/full ]] || fail "a result replaced a pipe or a device"
check "a result of a training" 2 "" -- --result table train --run run
rm run.jobs/done
check "a training after another that is not done" 1 "" -- --after-run run train --run other
touch run.jobs/done
check "a training after another" 0 "launch rnnsearch train --run run" CODE=0 -- --after-run run/ train --run run
check "an option that there is not" 2 "" -- --results table evaluate
check "a run whose name begins with a dash" 0 "launch rnnsearch train --corpus c.h5 --run -x" CODE=0 \
  RUN=-x -- train --corpus c.h5 --run -x
[[ -e ./-x.jobs/done ]] || fail "no mark of the training -x: $(ls)"

# Without SLURM, cluster/run restarts a failed training.
check "failures without SLURM" 0 "$launch"$'\n'"$launch"$'\n'"$launch" -u SLURM_JOB_ID "CODES=1 137 0" -- "${train[@]}"
check "stopped without SLURM" 85 "$launch" -u SLURM_JOB_ID CODE=85 -- "${train[@]}"
[[ $(<session) == alone ]] || fail "Ctrl-C would reach an mpirun, which ends its ranks at once"

# A signal during the wait before a restart.
env -u SLURM_JOB_ID CODE=1 RESTART_SECONDS=1000 "$SOURCE/cluster/run" "${train[@]}" >log 2>&1 &
job=$!
until grep -q 'going on from the last checkpoint' log; do sleep 0.05; done
kill -TERM $job
wait $job && status=0 || status=$?
[[ $status == 85 ]] || fail "a signal before a restart: exit code $status: $(<log)"

# Signals reach the launcher; a launcher that does not exit is killed, and its job is requeued anyway.
signal() { # SIGNAL CODE CALLS ENVIRONMENT...
  local signal=$1 code=$2 calls=$3 status=0 job
  shift 3
  rm -f calls waiting
  env WAIT_FOR_SIGNAL=1 "$@" "$SOURCE/cluster/run" "${train[@]}" >log 2>&1 &
  job=$!
  until [[ -e waiting ]]; do
    kill -0 "$job" || fail "$signal: it did not wait for it: $(<log)"
    sleep 0.05
  done
  kill -"$signal" "$job"
  wait "$job" || status=$?
  [[ $status == "$code" ]] || fail "$signal: exit code $status, not $code: $(<log)"
  [[ $(<calls) == "$calls" ]] || fail "$signal: called '$(<calls)': $(<log)"
}
# A full disk or a reader that has gone neither ends the script nor keeps a signal from the launcher.
rm calls
"$SOURCE/cluster/run" "${train[@]}" >log 2>/dev/full || fail "a full disk: exit code $?"
[[ $(<calls) == "$launch" ]] || fail "a full disk: called '$(<calls)'"
mkfifo words
cat words >/dev/null &
reader=$!
rm -f calls waiting
env WAIT_FOR_SIGNAL=1 "$SOURCE/cluster/run" "${train[@]}" >words 2>&1 &
job=$!
until [[ -e waiting ]]; do sleep 0.05; done
kill $reader
wait $reader || true
kill -USR1 $job
wait $job && fail "a reader that has gone: exit code 0"
[[ $(<calls) == "$launch"$'\nsignalled'"$requeue" ]] || fail "a reader that has gone: called '$(<calls)'"
# A signal that comes before the launcher is started is not lost.
mkdir slow
printf '#!/usr/bin/env bash\ntouch waiting\nuntil [[ -e sent ]]; do sleep 0.05; done\n' >slow/squeue
chmod +x slow/squeue
rm -f calls waiting
PATH=$PWD/slow:$PATH "$SOURCE/cluster/run" "${train[@]}" >log 2>&1 &
until [[ -e waiting ]]; do
  kill -0 $! || fail "it did not ask for the job's end: $(<log)"
  sleep 0.05
done
kill -USR1 $!
touch sent
status=0
wait $! || status=$?
[[ $status == 85 && $(<calls) == "scontrol requeue 7" ]] || fail "a signal at the start: code $status, '$(<calls)': $(<log)"
# Nor is one that comes while the launcher starts, or before it handles signals.
rm -f calls
SLURM_JOB_END_TIME=5 INTERRUPT=1 WAIT_FOR_SIGNAL=1 "$SOURCE/cluster/run" "${train[@]}" >log 2>&1 &
echo $! >interrupt
status=0
wait $! || status=$?
[[ $status == 85 && $(tail -n 1 calls) == "scontrol requeue 7" && $(<log) == *"told to stop by USR1"*"exit code"* ]] ||
  fail "a signal while it starts the launcher: code $status, '$(<calls)': $(<log)"
signal USR1 85 "$launch$requeue" NOT_YET=1
signal USR1 85 "$launch"$'\nsignalled'"$requeue"
signal TERM 85 "$launch"$'\nsignalled'"$requeue"
signal USR1 137 "$launch$requeue" DEAF=1 PATIENCE_SECONDS=1
grep -q 'does not leave' log || fail "no word of a launcher that does not leave: $(<log)"

# A launcher that stays after its ranks have ended is killed, too.
check "a launcher that lost a host" 137 "$launch$requeue" DESERTED=1 PATIENCE_SECONDS=2 -- "${train[@]}"
grep -q 'its ranks here have ended' log || fail "no word of a launcher that lost a host: $(<log)"
