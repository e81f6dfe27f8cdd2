#!/usr/bin/env bash
# The scripts of cluster/ on a real SLURM with virtual nodes: a training that is preempted ends with the bits of an undisturbed one. With
# RNNSEARCH_TEST_LONG=1 also trainings that lose a node or their network, are stopped, reach the time limit of their job, chains, arrays, and an
# experiment from text to table (8 minutes). With SLURM_TEST_LOSSES=N instead only N further rounds, in each of which four trainings lose a
# node, two by its power and two by its cable, SEED determines which node and when; about a minute and a half a round.
# shellcheck disable=SC2046  # what train_arguments prints is split into the arguments of a command
set -euo pipefail
lab=$SOURCE/tests/support/lab/lab
"$lab" check
"$lab" slurm check
source "$SOURCE/tests/train/support.sh"
export SITE=$SOURCE/cluster/site.sh WALLTIME=10 CPUS_PER_RANK=2 NODES=2 PATIENCE_SECONDS=20 TRAIN_OPTIONS='' RNNSEARCH_OVERSUBSCRIBE=1
mpirun='mpirun --bind-to none' # as root, as a container may be
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

trap 'kill $(jobs -p) 2>/dev/null || true; "$lab" down' EXIT
started=$SECONDS
step() {
  echo "[$((SECONDS - started)) s] $*"
}
login() {
  "$lab" on login "$@"
}
submit() {
  login "$SOURCE/cluster/submit" "$@"
}
# training RUN: prints the options of a training; all trainings have the same
training() {
  train_arguments "$1" 300
  echo --checkpoint-every 40
}
state_of_job() {
  login scontrol show job -o "$1" 2>/dev/null | sed -n 's/.* JobState=\([A-Z_]*\).*/\1/p'
}
nodes_of_job() {
  login scontrol show hostnames "$(login squeue -h -j "$1" -o %N)"
}
until_true() { # SECONDS WHAT COMMAND...
  local i limit=$1 what=$2
  shift 2
  for ((i = 0; i < limit * 10; ++i)); do
    ! "$@" || return 0
    sleep 0.1
  done
  login squeue || true
  tail -n 20 ./*.jobs/*.log >&2 || true
  fail "$what: not within $limit s"
}
is() { # JOB STATE
  [[ $(state_of_job "$1") == "$2" ]]
}
is_training() { # RUN: past its first checkpoint
  has_updates "$1" 50
}
expect_undisturbed() { # RUN LOG: RUN was disturbed, and ends with the bits of the undisturbed training
  grep -q 'resumes from' "$2" || fail "$1 never was resumed, so it shows nothing: $(tail -n 5 "$2")"
  expect_equal "$1" undisturbed
}

make_corpus
nodes=4
if [[ -n ${RNNSEARCH_TEST_LONG:-}${SLURM_TEST_LOSSES:-} ]]; then
  # n11 and n12 are for trainings that must last, n13 and n14 for node_check, which sends much.
  nodes=14
  export SBATCH_OPTIONS="--exclude=n[11-14]"
fi
"$lab" up $nodes
"$lab" slurm
# Slows the cables, so that also a fast machine does not finish before the faults: an update sends 62 kB in each direction,
# which takes 100 ms, and 300 updates 30 s. SLURM may need ten seconds until it preempts a job.
for ((i = 1; i <= nodes && i <= 10; ++i)); do "$lab" slow n$i 5; done

step "undisturbed, by srun"
submit --wait $(training undisturbed) >/dev/null 2>undisturbed.log || fail "no training at all: $(<undisturbed.log)"
[[ -e undisturbed.jobs/done ]] || fail "a training that is done is not marked as done"
grep -q '^\[comm\] .*n2.*: 1 rank' undisturbed.log || fail "the training did not run on two nodes: $(<undisturbed.log)"

# round N: four trainings, two of them started by mpirun, each lose one of their two nodes at a random update
round() {
  local i job node update fault name names=() jobs=() lost=()
  for i in 0 1 2 3; do
    name=round-$1-$i
    names+=("$name")
    jobs+=("$(LAUNCHER=$( ((i % 2)) && echo "$mpirun" || echo 'srun --mpi=pmix --kill-on-bad-exit=1') submit $(training "$name"))")
  done
  for i in 0 1 2 3; do
    draw 150
    update=$((45 + drawn))
    until_true 120 "update $update of ${names[i]}" has_updates "${names[i]}" $update
    draw 2
    node=$(nodes_of_job "${jobs[i]}" | sed -n $((drawn + 1))p)
    fault=$( ((i < 2)) && echo kill || echo cut)
    "$lab" "$fault" "$node"
    lost+=("$node")
    step "round $1: ${names[i]} at update $update: $fault $node ($( ((drawn)) && echo 'its second node' || echo 'that of the script'))"
  done
  for i in 0 1 2 3; do
    job=${jobs[i]}
    until_true 200 "the end of ${names[i]}, job $job" is "$job" COMPLETED
    expect_undisturbed "${names[i]}" "${names[i]}.jobs/train-$job.log"
    if ((i < 2)); then "$lab" boot "${lost[i]}"; else "$lab" mend "${lost[i]}"; fi
  done
  for node in "${lost[@]}"; do "$lab" slow "$node" 5; done
  until_true 90 "the lost nodes are back" all_idle
}
all_idle() {
  [[ $(login sinfo -h -N -o %T | sort -u) == idle ]]
}
if [[ -n ${SLURM_TEST_LOSSES:-} ]]; then
  step "nodes are lost, SEED=${SEED:=1}"
  for ((i = 1; i <= SLURM_TEST_LOSSES; ++i)); do round "$i"; done
  step "$((4 * SLURM_TEST_LOSSES)) nodes lost, seed $SEED: all trainings ended with the bits of the undisturbed one"
  exit 0
fi

# The following cases are functions that run at the same time, because SLURM needs seconds to requeue a job.
stopped() { # a training that mpirun started in a job is told to stop
  local job
  job=$(LAUNCHER=$mpirun submit $(training stopped))
  until_true 90 "a training by mpirun" is_training stopped
  login scancel -b -s USR1 "$job"
  until_true 120 "the end of the training that was told to stop" is "$job" COMPLETED
  expect_undisturbed stopped stopped.jobs/train-"$job".log
}

preempted() { # RUN PARTITION
  local job
  job=$(submit --partition "$2" $(training "$1"))
  until_true 90 "a training to preempt" is_training "$1"
  login sbatch --wait --partition=urgent --nodelist="$(login squeue -h -j "$job" -o %N)" --nodes=2 --ntasks=2 \
    --cpus-per-task=2 --output=urgent.log --wrap 'echo urgent' >/dev/null
  until_true 120 "the end of the training preempted in partition $2" is "$job" COMPLETED
  expect_undisturbed "$1" "$1".jobs/train-"$job".log
}

cancelled() { # a cancelled job is not requeued
  local job
  job=$(submit $(training cancelled))
  until_true 90 "a training to cancel" is_training cancelled
  login scancel "$job"
  until_true 90 "the end of a cancelled job" is "$job" CANCELLED
  sleep 8
  is "$job" CANCELLED || fail "a cancelled job came back: $(state_of_job "$job")"
}

chained() { # the first job is stopped, the second ends the training, the third is not needed
  local chain
  mapfile -t chain < <(submit --chain 3 $(training chained))
  [[ ${#chain[@]} == 3 ]] || fail "a chain of 3 is ${#chain[*]} jobs"
  until_true 90 "a chain's first job" is_training chained
  login scancel -b -s USR1 "${chain[0]}"
  until_true 90 "the end of the chain's second job" is "${chain[1]}" COMPLETED
  until_true 90 "the end of the chain's third job" is "${chain[2]}" CANCELLED
  expect_undisturbed chained chained.jobs/train-"${chain[1]}".log
}

array() { # only the task that is stopped is requeued
  local job
  job=$(submit --seeds 1-2 $(training array))
  until_true 120 "an array's second task" is_training array-seed-2
  login scancel -b -s USR1 "${job}_2"
  until_true 120 "the end of an array's stopped task" test -e array-seed-2.jobs/done
  until_true 120 "the end of an array's other task" test -e array-seed-1.jobs/done
  grep -q 'resumes from' array.jobs/train-"${job}"_2.log || fail "the stopped task of an array did not go on"
  ! grep -q 'restart 1' array.jobs/train-"${job}"_1.log || fail "a task of an array was requeued with another"
  expect_equal array-seed-1 undisturbed
}

at_its_end() { # RUN OPTIONS-OF-TRAININGS SIGNAL-SECONDS END MBITS: in a job of a minute, on two hosts as slow as this
  local job host
  for host in n11 n12; do "$lab" slow $host "$5"; done
  job=$(SBATCH_OPTIONS=--nodelist=n11,n12 WALLTIME=1 TRAIN_OPTIONS=$2 SIGNAL_SECONDS=$3 RNNSEARCH_END_TIME=$4 submit $(training "$1"))
  until_true 150 "a training in a job of a minute is back" grep -qs 'resumes from' "$1".jobs/train-"$job".log
  for host in n11 n12; do "$lab" fast $host; done
  until_true 120 "the end of a training in jobs of a minute" is "$job" COMPLETED
  expect_undisturbed "$1" "$1".jobs/train-"$job".log
}

lost_batch_host() {
  local job host
  job=$(submit $(training lost-batch-host))
  until_true 90 "a training to lose its script" is_training lost-batch-host
  host=$(login scontrol show job -o "$job" | sed -n 's/.* BatchHost=\([a-z0-9]*\).*/\1/p')
  "$lab" kill "$host"
  until_true 120 "the end of a training that lost its script" is "$job" COMPLETED
  expect_undisturbed lost-batch-host lost-batch-host.jobs/train-"$job".log
}

node_check() { # a correct site, and one whose ranks do not find each other
  local SBATCH_OPTIONS=--nodelist=n13,n14
  login "$SOURCE/cluster/node_check" --nodes 2 --folder checked >checked.log 2>&1 || fail "node_check: $(<checked.log)"
  grep -q 'n13: 1, n14: 1' checked.log || fail "node_check does not find a rank on each of two hosts: $(<checked.log)"
  ! LAUNCHER='srun --mpi=none' login "$SOURCE/cluster/node_check" --nodes 2 --folder checked >wrong.log 2>&1 ||
    fail "node_check finds nothing wrong with ranks that do not find each other: $(<wrong.log)"
  ! LAUNCHER=nowhere login "$SOURCE/cluster/node_check" >wrong.log 2>&1 || fail "node_check takes any launcher"
  grep -q 'there is no nowhere here' wrong.log || fail "$(<wrong.log)"
}

experiment() { # from text to the table in three jobs
  local jobs
  cat >prepare.ini <<'END_OF_INI'
train-source = text/train.source
train-target = text/train.target
dev-source = text/dev.source
dev-target = text/dev.target
test = reversal:text/test.source:text/test.target
tokenizer = none
END_OF_INI
  # The same training as in the other cases, from its record.
  grep -v '^corpus' undisturbed/config.ini >train.ini
  mapfile -t jobs < <(login "$SOURCE/cluster/experiment" --prepare prepare.ini --train train.ini --set test/reversal \
    --folder experiment)
  [[ ${#jobs[@]} == 3 ]] || fail "an experiment is jobs ${jobs[*]}"
  until_true 90 "the end of an experiment" is "${jobs[2]}" COMPLETED
  expect_equal experiment/run undisturbed
  grep -q '^all ' experiment/bleu.txt || fail "no table: $(<experiment/bleu.txt)"
}

together() { # WHAT -- FUNCTION ARGUMENTS -- FUNCTION ARGUMENTS ...
  local jobs=() words=() word job
  step "side by side: $1"
  shift 2
  for word in "$@" --; do
    if [[ $word == -- ]]; then
      "${words[@]}" &
      jobs+=($!)
      words=()
    else
      words+=("$word")
    fi
  done
  for job in "${jobs[@]}"; do wait "$job" || fail "see above"; done
}
preempted preempted normal
[[ -n ${RNNSEARCH_TEST_LONG:-} ]] || { step "done; RNNSEARCH_TEST_LONG=1 for all" && exit 0; }

# Two trainings that lose a node, one started by srun and one by mpirun. SLURM needs half a minute to notice, so they are checked at
# the end.
lost_srun=$(submit $(training lost-srun))
lost_mpirun=$(LAUNCHER=$mpirun submit $(training lost-mpirun))
until_true 90 "two trainings at once" is_training lost-srun
until_true 90 "two trainings at once" is_training lost-mpirun
second_srun=$(nodes_of_job "$lost_srun" | tail -n 1) second_mpirun=$(nodes_of_job "$lost_mpirun" | tail -n 1)
[[ $second_srun != "$second_mpirun" ]] || fail "both jobs are on $second_srun"
step "$second_srun loses its power, $second_mpirun its network"
"$lab" kill "$second_srun"
"$lab" cut "$second_mpirun"

together "told to stop; preempted with grace; near its end" -- stopped -- preempted graced grace -- at_its_end before-end '--stop-before 0.7' 30 '' 5
together "cancelled; chain; array; from text to table" -- cancelled -- chained -- array -- experiment -- node_check

step "what the lost nodes' trainings came to"
for job in $lost_srun $lost_mpirun; do
  until_true 90 "the end of the training that lost a node, job $job" is "$job" COMPLETED
done
expect_undisturbed lost-srun lost-srun.jobs/train-"$lost_srun".log
expect_undisturbed lost-mpirun lost-mpirun.jobs/train-"$lost_mpirun".log
# RNNSEARCH_END_TIME=0: the program does not know of the end, and only SLURM stops it.
together "SLURM's signal before the limit; the script's node is lost" -- at_its_end signalled '' 50 0 2 -- lost_batch_host
together "SLURM's limit" -- at_its_end limited '' 0 0 1
step "done"
