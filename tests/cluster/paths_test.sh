#!/usr/bin/env bash
# node_check and cluster/run, and with RNNSEARCH_TEST_LONG=1 an experiment on a real SLURM, in folders whose paths have spaces, quotes, a colon, a
# leading dash and other characters that are special in a shell, in sbatch and in names of logs. (submit_test.sh tests paths that are
# rejected.)
set -euo pipefail
lab=$SOURCE/tests/support/lab/lab
[[ -z ${RNNSEARCH_TEST_LONG:-} ]] || { "$lab" check && "$lab" slurm check; }
source "$SOURCE/tests/train/support.sh"
export LAB=$PWD/lab WALLTIME=10 PREPARE_WALLTIME=10 EVALUATE_WALLTIME=10 CPUS_PER_RANK=1 NODES=2 TRAIN_OPTIONS='' RNNSEARCH_OVERSUBSCRIBE=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

odd=$'-n it\'s "odd": 100%j of $HOME & 1; `a` *? [b] e=f <c> |d (é)'
project="$PWD/$odd #1"$'\n' # the program is found in its build folder
mkdir -p "$project/build" "./$odd"
cp -r "$SOURCE/cluster" "$project"
ln -s "$RNNSEARCH" "$project/build/rnnsearch"
unset RNNSEARCH
cd -- "$odd"
"$SOURCE/data/reversal.sh" -text --vocabulary 10 --max-length 7 --train 60 --dev 16 --test 16
cat >"-pre pare.ini" <<'END'
train-source = -text/train.source
train-target = -text/train.target
dev-source = -text/dev.source
dev-target = -text/dev.target
test = reversal:-text/test.source:-text/test.target
tokenizer = none
END
printf '%s\n' 'max-updates = 2' 'log-every = 1' 'embedding = 8' 'state = 8' 'alignment = 8' 'maxout = 8' 'threads = 1' >"-tr ain.ini"

if [[ -n ${RNNSEARCH_TEST_LONG:-} ]]; then
  trap '"$lab" down' EXIT
  "$lab" up 2
  "$lab" slurm
  mapfile -t jobs < <("$lab" on login "$project/cluster/experiment" --prepare "-pre pare.ini" --train "-tr ain.ini" --set test/reversal --folder "-e=: 1%")
  [[ ${#jobs[@]} == 3 ]] || fail "an experiment is jobs ${jobs[*]}"
  until [[ $("$lab" on login scontrol show job -o "${jobs[2]}") =~ \ JobState=(COMPLETED|FAILED|CANCELLED|BOOT_FAIL)\  ]]; do sleep 0.2; done
  grep -q '^all ' "./-e=: 1%/bleu.txt" || fail "no table: $(tail -n 5 ./-e*/*.jobs/*.log ./-e*/logs/*.log) $(<"$LAB/log/jobs")"
  [[ -s "./-e=: 1%/run.jobs/train-${jobs[1]}.log" ]] || fail "the log of the training is elsewhere: $(find . -name '*.log')"
  "$lab" down
else
  mkdir "./-e=: 1%"
  "$project/build/rnnsearch" prepare --config "-pre pare.ini" --output "./-e=: 1%/corpus.h5" >/dev/null
fi

# Without SLURM, the path of the folder may also have a line break.
mkdir "line"$'\n'"break #1"
LAUNCHER="mpirun -n 2 --bind-to none" "$project/cluster/node_check" --folder "line"$'\n'"break #1" >checked 2>&1 || fail "node_check: $(<checked)"
corpus="-e=: 1%/corpus.h5"
LAUNCHER="mpirun -n 2 --bind-to none" "$project/cluster/run" train --config "-tr ain.ini" --corpus "$corpus" --run=-run >trained 2>&1 ||
  fail "$(<trained)"
[[ -e ./-run.jobs/done && -e $(last_checkpoint ./-run) ]] || fail "the training is not done: $(<trained)"
