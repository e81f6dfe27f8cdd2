#!/usr/bin/env bash
# pipelines/reversal/run.sh at a small size: rounds, tables and plots exist, nothing is done twice, rounds can be added, other settings are
# rejected, an interrupted call resumes, and the exit code says whether the task was learned. With SLURM each system is a job array of its
# rounds, with the same names.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
run() { "$SOURCE/pipelines/reversal/run.sh" "$@"; }
tiny=(-- --embedding 8 --state 8 --alignment 8 --batch-sentences 4 --validate-every 0)
few=(--systems "replication seq2seq" --max-length 6 --updates 12 --folder "few,er")

# Too few updates to learn the task: all results are made, and the exit code is 1.
code_of run --rounds 2 "${few[@]}" "${tiny[@]}" >out 2>&1
{ [[ $code == 1 ]] && grep -q '^reversal: PSA must be above 99% in every round, but is not: replication, round 1: [0-9.]*%; replication, round 2' out; } ||
  fail "code $code: $(tail -n 5 out)"
! grep -q 'seq2seq, round [12]:' out || fail "a system without attention must learn the task: $(<out)"
for file in round-1.json round-2.json report.html rounds.md csv/rounds.csv replication-seed-2.test seq2seq-seed-1.test; do
  [[ -s few,er/$file ]] || fail "no few,er/$file"
done
{ grep -q '^| replication | 2 |' few,er/rounds.md && grep -q '^| seq2seq | 2 |' few,er/rounds.md; } || fail "means: $(<few,er/rounds.md)"
grep -q '^| replication | 2 |' out || fail "the means are not printed: $(<out)"
[[ $(grep -c ',PSA,' few,er/csv/rounds.csv) == 4 ]] || fail "rounds.csv: $(<few,er/csv/rounds.csv)"
! cmp -s few,er/replication-seed-1.test few,er/replication-seed-2.test || fail "both rounds are the same"
grep -q 'id="chart-rounds-1"' few,er/report.html || fail "the page has no rounds"

# With one more round: existing results are not made again.
touch stamp
run --rounds 3 "${few[@]}" "${tiny[@]}" >again 2>&1 && fail "learned in 12 updates?"
[[ $(grep -c '^\[reversal\] training' again) == 2 ]] || fail "not two trainings: $(<again)"
made=$(find few,er -newer stamp -type f \( -name '*.h5' -o -name '*.test' -o -name log.jsonl \) ! -path '*-seed-3*')
[[ -z $made ]] || fail "made twice: $made"
grep -q '^| replication | 3 |' few,er/rounds.md || fail "no third round: $(<few,er/rounds.md)"

# Results of other settings are rejected.
refused() { # FACT OPTIONS...
  local fact=$1 code=0
  shift
  run "$@" >said 2>&1 || code=$?
  { [[ $code == 1 && $(grep -c '^reversal: ' said) == 1 ]] && grep '^reversal: ' said | grep -qF -- "$fact"; } ||
    fail "$*: code $code, without '$fact': $(<said)"
}
refused "few,er/task was made with --max-length 6 --updates 12" "${few[@]}" --updates 13 "${tiny[@]}"
refused "give another --folder" "${few[@]}" "${tiny[@]}" --learning-rate 0.5

# Interrupted: exit code 85, and the same command resumes from the checkpoint.
long=(--systems notebook-dot --rounds 1 --max-length 6 --updates "$endless" --folder cut)
cut=(-- --embedding 16 --state 16 --encoder-state 8 --validate-every 0 --log-every 1)
(exec "$SOURCE/pipelines/reversal/run.sh" "${long[@]}" "${cut[@]}") >cut.out 2>&1 &
terminated $! cut/notebook-dot-seed-1 5
[[ $code == 85 && -s $(last_checkpoint cut/notebook-dot-seed-1) ]] || fail "TERM: code $code: $(<cut.out)"

# The task is learned: exit code 0. (Sequences of up to 4 words, in 15 seconds.)
run --systems replication --rounds 1 --max-length 4 --updates 700 --folder learned -- --validate-every 0 >learned.out 2>&1 ||
  fail "$(tail -n 5 learned.out)"

# With SLURM: each system is an array of its unfinished rounds; jobs that are in the queue are not submitted again; at last tables.
mkdir bin
cat >bin/sbatch <<'END'
#!/usr/bin/env bash
number=$(($(cat calls 2>/dev/null | wc -l) + 101))
echo "$*" >>calls
cat >"script-$number"
echo $number
END
printf '#!/bin/sh\necho "$*" >>asked\ncat queue 2>/dev/null\nexit 0\n' >bin/squeue
chmod +x bin/*
slurm=(--rounds 3 --launch slurm --at-once 2 "${few[@]}" "${tiny[@]}")
mkdir -p few,er/replication-seed-2.jobs && touch few,er/replication-seed-2.jobs/done
PATH=$PWD/bin:$PATH run "${slurm[@]}" >slurm.out 2>&1 || fail "$(<slurm.out)"
[[ $(wc -l <calls) == 2 ]] || fail "not a job array for each system: $(<calls) $(<slurm.out)"
{ grep -qxF '#SBATCH --array=1-2%2' script-101 && grep -qxF '#SBATCH --array=1-3%2' script-102; } || fail "arrays: $(<script-101) $(<script-102)"
grep -q '^  2) exec .*/cluster/run train --preset replication .*--seed 3 --run few,er/replication-seed-3 ;;$' script-101 || fail "$(<script-101)"
grep -q 'again when these are done' slurm.out || fail "$(<slurm.out)"
echo 101_1 >queue
PATH=$PWD/bin:$PATH run "${slurm[@]}" >slurm.out 2>&1 || fail "$(<slurm.out)"
{ [[ $(wc -l <calls) == 2 ]] && grep -q 'replication, rounds 1,3: in the queue' slurm.out; } || fail "submitted twice: $(<calls) $(<slurm.out)"
# SLURM that does not answer: nothing is submitted, because the jobs may be in the queue.
printf '#!/bin/sh\necho "slurm_load_jobs error: Unable to contact slurm controller" >&2\nexit 1\n' >bin/squeue
PATH=$PWD/bin:$PATH code_of run "${slurm[@]}" >slurm.out 2>&1
{ [[ $code == 1 && $(wc -l <calls) == 2 ]] && grep -q 'squeue does not say whether .* Unable to contact' slurm.out; } ||
  fail "no answer of squeue: code $code: $(<calls) $(<slurm.out)"
