#!/usr/bin/env bash
# What cluster/submit and cluster/experiment give to SLURM for each job: script and dependencies; their records and their errors.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
mkdir bin
# A stub sbatch that records its calls, and each script under the job's number.
cat >bin/sbatch <<'END'
#!/usr/bin/env bash
number=$(($(cat calls 2>/dev/null | wc -l) + 101))
((number <= ${MOST:-999})) || exit 1
echo "$*" >>calls
cat >"script-$number"
echo "$number;cluster"
END
# A stub program that finds something wrong with what its environment says.
cat >bin/rnnsearch <<'END'
#!/usr/bin/env bash
echo "$* end=$RNNSEARCH_END_TIME" >>checked
[[ -z ${CODE:-} || "$*" != *"${WRONG:-}"* ]] || { echo "rnnsearch: it is wrong" >&2 && exit "$CODE"; }
END
# A stub squeue: the jobs in $QUEUE, whichever it is asked for.
cat >bin/squeue <<'END'
#!/bin/sh
[ -z "$QUEUE" ] || echo "$QUEUE"
END
chmod +x bin/*
export PATH=$PWD/bin:$PATH RNNSEARCH=$PWD/bin/rnnsearch SITE=$SOURCE/cluster/site.sh
submit=$SOURCE/cluster/submit

has() { # FILE LINE...
  local file=$1 line
  shift
  for line; do grep -qxF -- "$line" "$file" || fail "$file lacks the line '$line': $(<"$file")"; done
}
lacks() { # FILE TEXT...
  local file=$1 text
  shift
  for text; do ! grep -qF -- "$text" "$file" || fail "$file should not say '$text': $(<"$file")"; done
}
refuses() { # TEXT COMMAND...: COMMAND exits with the code $expected [2, a wrong command line] and says TEXT
  local text=$1 code=0
  shift
  "$@" >said 2>&1 || code=$?
  [[ $code == "${expected:-2}" ]] || fail "'$*' exits with $code, not with ${expected:-2}: $(<said)"
  grep -qF -- "$text" said || fail "'$*' is refused without '$text': $(<said)"
  [[ $(wc -l <said) == 1 ]] || fail "'$*' is refused in more than a sentence: $(<said)"
  [[ ! -e calls ]] || fail "refused, but submitted: $(<calls)"
}

# One job. A dry run submits nothing and makes no files.
"$submit" --dry-run --nodes 4 --time 3:00:00 train --preset small --corpus "my corpus.h5" --run runs/first/ >script
[[ ! -e calls && ! -e runs ]] || fail "a dry run did something: $(ls)"
bash -n script
has script "#SBATCH --nodes=4" "#SBATCH --time=3:00:00" "#SBATCH --ntasks-per-node=1" "#SBATCH --cpus-per-task=16" "#SBATCH --hint=nomultithread" \
  "#SBATCH --job-name=rnnsearch-first" "#SBATCH --output=$PWD/runs/first.jobs/train-%j.log" "#SBATCH --open-mode=append" \
  "#SBATCH --requeue" "#SBATCH --signal=B:USR1@180" "#SBATCH --chdir=$PWD" "export LAUNCHER='srun --mpi=pmix --kill-on-bad-exit=1'" \
  "export AFTER_STOP='requeue'" "export HDF5_USE_FILE_LOCKING='FALSE'" \
  "exec $SOURCE/cluster/run train --preset small --corpus 'my corpus.h5' --run runs/first"
has script "export CONTAINER=''"
CONTAINER="apptainer exec i.sif" RNNSEARCH=rnnsearch "$submit" --dry-run train --run r --corpus c >script
has script "export CONTAINER='apptainer exec i.sif'" "export RNNSEARCH='rnnsearch'"
"$submit" --dry-run --nodes 4 --time 3:00:00 train --preset small --corpus "my corpus.h5" --run runs/first/ >script
lacks script "--partition" "--account" "--array" "--mem" "@name@"
[[ $(sed 1d script | head -n 1) == "#!/usr/bin/env bash" ]] || fail "no script: $(head -n 3 script)"
! grep -q '[^1]@[a-z_]*@' script || fail "a placeholder is left: $(<script)"

# Values of the site, and variables of the environment that override them.
PARTITION=long ACCOUNT=me QOS=high CONSTRAINT=icelake NODE_MEMORY=0 SBATCH_OPTIONS="--exclusive --mail-type=END" \
  LAUNCHER="mpirun --bind-to none" MODULES="gcc openmpi" HINT='' "$submit" --partition short --dry-run train --run r --corpus c >script
has script "#SBATCH --partition=short" "#SBATCH --account=me" "#SBATCH --qos=high" "#SBATCH --constraint=icelake" \
  "#SBATCH --mem=0" "#SBATCH --exclusive" "#SBATCH --mail-type=END" "export LAUNCHER='mpirun --bind-to none'" \
  "export MODULES='gcc openmpi'"
lacks script "--hint"
cat >other.sh <<END
: "\${NODES=7}"
source $SOURCE/cluster/site.sh
END
SITE=other.sh "$submit" --dry-run train --run r --corpus c >script
has script "#SBATCH --nodes=7" "export SITE='$PWD/other.sh'"

# A submitted job prints its number and records it beside the run.
[[ $("$submit" train --corpus c --run runs/one) == 101 ]] || fail "not the job's number alone"
[[ $(<calls) == --parsable && $(<runs/one.jobs/jobs) == 101 ]] || fail "submitted as '$(<calls)'"
diff script-101 runs/one.jobs/train.sbatch || fail "the record is not what was submitted"
touch runs/one.jobs/done
rm calls
"$submit" train --corpus c --run runs/one >/dev/null
[[ ! -e runs/one.jobs/done ]] || fail "a training that is submitted again counts as done"

# A chain.
rm calls
[[ $("$submit" --chain 3 --after 7 train --corpus c --run runs/chain | xargs) == "101 102 103" ]] || fail "no chain of 3"
[[ $(<calls) == "--parsable --dependency=afterok:7 --kill-on-invalid-dep=yes
--parsable --dependency=afterany:101 --kill-on-invalid-dep=yes
--parsable --dependency=afterany:102 --kill-on-invalid-dep=yes" ]] || fail "a chain is '$(<calls)'"
has script-102 "#SBATCH --no-requeue" "export AFTER_STOP='chain'"
[[ $(xargs <runs/chain.jobs/jobs) == "101 102 103" ]] || fail "the record of a chain is $(<runs/chain.jobs/jobs)"
printf '#!/usr/bin/env bash\necho "$*" >cancelled\n' >bin/scancel
chmod +x bin/scancel
! MOST=105 "$submit" --chain 6 train --corpus c --run runs/long >said || fail "a chain of which a job was refused"
[[ $(<said) == 104$'\n'105 && $(<cancelled) == "104 105" ]] || fail "accepted: $(<said), cancelled: $(<cancelled)"
"$submit" --dry-run --chain 3 train --corpus c --run runs/chain | grep -c '^# sbatch' | grep -qx 3 || fail "a dry chain"

# Arrays: each task has a run of its own.
rm calls
touch full.ini plain.ini
"$submit" --seeds 1-2,7 --at-once 2 train --corpus c --run runs/s >/dev/null
has script-101 "#SBATCH --array=1-3%2" "#SBATCH --output=$PWD/runs/s.jobs/train-%A_%a.log" \
  "  3) exec $SOURCE/cluster/run train --corpus c --seed 7 --run runs/s-seed-7 ;;"
[[ $(<runs/s-seed-7.jobs/jobs) == 101_3 ]] || fail "the record of a task is $(<runs/s-seed-7.jobs/jobs)"
"$submit" --configs "full.ini plain.ini" --seeds 1-2 --dry-run train --corpus c --run runs/a >script
has script "#SBATCH --array=1-4" \
  "  3) exec $SOURCE/cluster/run train --corpus c --config plain.ini --seed 1 --run runs/a-plain-seed-1 ;;"
for task in 1 2 3 4; do # what a task does, with a stub of cluster/run that prints its arguments
  sed "s,exec $SOURCE/cluster/run,echo," script | SLURM_ARRAY_TASK_ID=$task bash
done >tasks
[[ $(awk '{print $NF}' tasks | xargs) == "runs/a-full-seed-1 runs/a-full-seed-2 runs/a-plain-seed-1 runs/a-plain-seed-2" ]] ||
  fail "tasks are $(<tasks)"

# After a training: waits for all of its jobs, in whatever way they end.
rm calls
"$submit" --nodes 1 --time 30 --after-run runs/chain --after-run runs/s-seed-7 --result t.txt evaluate --model m >/dev/null
[[ $(<calls) == "--parsable --dependency=afterany:101:102:103,afterany:101_3 --kill-on-invalid-dep=yes" ]] || fail "$(<calls)"
has script-101 "#SBATCH --output=$PWD/logs/evaluate-%j.log" \
  "exec $SOURCE/cluster/run --after-run runs/chain --after-run runs/s-seed-7 --result t.txt evaluate --model m"
lacks script-101 AFTER_STOP TRAIN_OPTIONS

# The experiment: three kinds of jobs, three lengths of time.
rm calls
touch prepare.ini train.ini
PREPARE_WALLTIME=45 EVALUATE_WALLTIME=20 "$SOURCE/cluster/experiment" --prepare prepare.ini --train train.ini --set test/t \
  --folder e --nodes 4 --time 8:00:00 --chain 2 >/dev/null
[[ $(<calls) == "--parsable
--parsable --dependency=afterok:101 --kill-on-invalid-dep=yes
--parsable --dependency=afterany:102 --kill-on-invalid-dep=yes
--parsable --dependency=afterany:102:103 --kill-on-invalid-dep=yes" ]] || fail "an experiment is '$(<calls)'"
has script-101 "#SBATCH --time=45" "#SBATCH --nodes=1" \
  "exec $SOURCE/cluster/run prepare --config prepare.ini --output e/corpus.h5"
has script-102 "#SBATCH --time=8:00:00" "#SBATCH --nodes=4" \
  "exec $SOURCE/cluster/run train --config train.ini --corpus e/corpus.h5 --run e/run"
has script-104 "#SBATCH --time=20" \
  "exec $SOURCE/cluster/run --after-run e/run --result e/bleu.txt evaluate --model e=e/run --corpus e/corpus.h5 --set test/t"
rm calls
"$SOURCE/cluster/experiment" --dry-run --corpus c --train train.ini --set dev --folder e2 >script
[[ $(grep -c '^#!' script) == 2 && ! -e calls && ! -e e2 ]] || fail "a dry experiment: $(<script)"

# Names that SLURM and the shell could split. (paths_test.sh uses the same with a real SLURM.)
mkdir "in \"a folder\" of 100%"
(
  cd "in \"a folder\" of 100%"
  touch "tr ain.ini" "more.ini" "p.ini"
  "$submit" --dry-run --name "a #1 @body@" train --corpus c --run "-my \\\"run" >../script 2>../said && fail "a log below a backslash"
  grep -q "has a backslash" ../said || fail "$(<../said)"
  "$submit" --dry-run --name "a #1 @body@" train --corpus c --run "-my \"run" >../script
  "$submit" --dry-run --configs "tr ain.ini" --configs "more.ini p.ini" train --corpus c --run r >../array
  "$SOURCE/cluster/experiment" --dry-run --prepare "p.ini" --train "tr ain.ini" --set dev --folder "-e=f" >../experiment
  "$submit" --dry-run --after-run "runs/a:b" --after-run "-c d" --result "-my table" evaluate --model m >../after
)
has script "#SBATCH --job-name=\"a #1 @body@\"" "#SBATCH --chdir=\"$PWD/in \\\"a folder\\\" of 100%\"" \
  "#SBATCH --output=\"$PWD/in \\\"a folder\\\" of 100%%/./-my \\\"run.jobs/train-%j.log\"" \
  "exec $SOURCE/cluster/run train --corpus c --run './-my \"run'"
has array "#SBATCH --array=1-3" "  1) exec $SOURCE/cluster/run train --corpus c --config 'tr ain.ini' --run 'r-tr ain' ;;"
has experiment "exec $SOURCE/cluster/run train --config 'tr ain.ini' --corpus ./-e=f/corpus.h5 --run ./-e=f/run" \
  "exec $SOURCE/cluster/run --after-run ./-e=f/run --result ./-e=f/bleu.txt evaluate --model -e-f=./-e=f/run --corpus ./-e=f/corpus.h5 --set dev"
has after "exec $SOURCE/cluster/run --after-run runs/a:b --after-run '-c d' --result '-my table' evaluate --model m"
rm -r in\ *
# Seeds are decimal.
"$submit" --dry-run --seeds 010-012,08 train --corpus c --run r >script
has script "#SBATCH --array=1-4" "  1) exec $SOURCE/cluster/run train --corpus c --seed 10 --run r-seed-10 ;;" \
  "  4) exec $SOURCE/cluster/run train --corpus c --seed 8 --run r-seed-8 ;;"

for seeds in '' ',' a-b 1-2-3 1,,2 -3 "1 2" '1*2'; do refuses "not a list like 1-5" "$submit" --seeds "$seeds" train --run r; done
refuses "name the run r-seed-2 twice" "$submit" --seeds 1-2,2 train --run r
refuses "has a line break" "$submit" train --run $'two\nlines'
mkdir $'two\nlines'
for place in runs /dev/full /dev/stdout; do expected=1 refuses "$place is not a regular file" "$submit" --result $place evaluate --model m; done
refuses "cannot hold; move the corpus" "$submit" train --corpus 'a#b' --run r
refuses "has a line break" env -C $'two\nlines' "$submit" --dry-run train --run r
refuses "train needs --run DIR" "$submit" train --corpus c
expected=1 refuses "there is no file missing.ini" "$submit" --configs missing.ini train --run r
expected=1 refuses "heterogeneous jobs are not supported" env SBATCH_OPTIONS="--exclusive hetjob --constraint=big" "$submit" train --run r
refuses "are for train, not for evaluate" "$submit" --chain 3 evaluate --model r
refuses "give their number with --chain N" env AFTER_STOP=chain "$submit" train --run r
expected=1 refuses "no job of this run was submitted" "$submit" --after-run nothing evaluate --model r
expected=1 refuses "there is no program" env RNNSEARCH=/nowhere "$submit" train --run r
# What the program finds wrong, or the queue, or the values themselves, is said before anything is queued.
refuses "nothing was submitted: rnnsearch: it is wrong" env CODE=2 "$submit" train --corpus c --run r
expected=1 refuses "it is wrong" env CODE=1 "$submit" translate --model m
refuses "it is wrong" env CODE=2 TRAIN_OPTIONS=--typo WRONG=--typo "$submit" train --corpus c --run r
refuses "it is wrong" env CODE=2 WRONG="--config plain.ini" "$submit" --configs "full.ini plain.ini" train --corpus c --run r
refuses "it is wrong" env CODE=2 WRONG=evaluate "$SOURCE/cluster/experiment" --prepare prepare.ini --train train.ini --set dev --folder e
refuses "leave --seed 7 out" "$submit" --seeds 1-2 train --corpus c --run r --seed 7
refuses "must be above PATIENCE_SECONDS" env SIGNAL_SECONDS=60 PATIENCE_SECONDS=90 "$submit" train --corpus c --run r
for time in 3 2:59 0-0:2; do refuses "give a longer --time" "$submit" --time $time train --corpus c --run r; done
refuses "write the value after a space, --nodes 2" "$submit" --nodes=2 train --corpus c --run r
sed 's/$/\r/' "$SOURCE/cluster/site.sh" >windows.sh
echo 'if' >broken.sh
for script in submit experiment node_check run; do
  refuses "line ends of Windows" env SITE=windows.sh "$SOURCE/cluster/$script" train --corpus c --run r
done
refuses "broken.sh is wrong" env SITE=broken.sh "$submit" train --corpus c --run r
mkdir -p r.jobs && echo 5 >r.jobs/jobs
expected=1 refuses "in the queue already: job 5 (RUNNING)" env QUEUE="5 (RUNNING)" "$submit" train --corpus c --run r
rm -r r.jobs checked
# What a job that is yet to run will make may be missing, and a program that does not run here cannot be asked.
CODE=1 "$submit" --after 7 --nodes 3 --time 10 --seeds 4-5 train --corpus c --run r 2>said >/dev/null || fail "refused: $(<said)"
[[ $(<checked) =~ ^"train --corpus c --seed 4 --run r-seed-4 --stop-before 5 --check-ranks 3 --check end="[0-9]{10}$ ]] || fail "checked: $(<checked)"
CODE=126 "$submit" train --corpus c --run r 2>said >/dev/null || fail "refused: $(<said)"
grep -q 'was not checked' said || fail "no word of what was not checked: $(<said)"
rm calls
mkdir without
for program in bash dirname realpath sed basename; do ln -s "$(command -v $program)" without/; done
expected=1 refuses "there is no sbatch here" env PATH="$PWD/without" bash "$submit" train --run r
refuses "either --prepare or --corpus" "$SOURCE/cluster/experiment" --train train.ini --set dev --folder e
refuses "makes several runs" "$SOURCE/cluster/experiment" --train train.ini --set dev --folder e --corpus c --seeds 1-2
