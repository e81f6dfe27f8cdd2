#!/usr/bin/env bash
# Ranks that run different programs, see different corpora or checkpoints, or would share too few CPUs, end with a one-line error
# and exit code 1 on all ranks, and nothing is written.
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
unset RNNSEARCH_OVERSUBSCRIBE
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_odls_base_sigkill_timeout=0 # otherwise mpirun waits a second whenever a rank ends with an error

make_corpus
# Ranks of one host that see different files, because each is in a folder of its own.
mkdir other without
"$SOURCE/data/reversal.sh" other/text --seed 2 --vocabulary 10 --max-length 7 --train 600 --dev 16 --test 16 >/dev/null
(cd other && "$RNNSEARCH" prepare --train-source text/train.source --train-target text/train.target --dev-source \
  text/dev.source --dev-target text/dev.target --tokenizer none --output corpus.h5 >/dev/null)
for folder in . other; do
  (cd $folder && "$RNNSEARCH" $(train_arguments model 2) 2>/dev/null)
done
mkdir text-only
cp text/dev.* text-only

# between FACTS RANK1_FOLDER COMMAND...: rank 0 runs in this folder, rank 1 in RANK1_FOLDER
between() {
  local facts=$1 folder=$2
  shift 2
  refused 1 "$facts" "$MPIEXEC" -n 1 "$RNNSEARCH" "$@" : -n 1 -wdir "$PWD/$folder" "$RNNSEARCH" "$@"
}
host=$(hostname)
export RNNSEARCH_OVERSUBSCRIBE=1 # this machine may have one core

# Two different programs of the same version.
cp "$RNNSEARCH" copy && echo >>copy
for command in prepare train; do # one that many ranks may run, and one of MPI
  refused 1 "rank 1 on $host|rank 0 on $host|digest|one build" "$MPIEXEC" -n 1 "$RNNSEARCH" $command : -n 1 ./copy $command
done

# A command for one process.
refused 2 "2 processes|without a launcher" "$MPIEXEC" -n 2 "$RNNSEARCH" average --run model --last 1 --output several.h5

# Another command line, or another configuration under the same name.
echo 'batch-sentences = 24' >config.ini && echo 'batch-sentences = 12' >other/config.ini
with_config="train --corpus corpus.h5 --run run --config config.ini --threads 1"
between "options: rank 1 on $host has batch-sentences = 12, rank 0 on $host has batch-sentences = 24|--config" other $with_config
refused 1 "rank 1 on $host has beam = 3, rank 0 on $host has beam = 2" "$MPIEXEC" -n 1 "$RNNSEARCH" translate --model model --beam 2 \
  : -n 1 "$RNNSEARCH" translate --model model --beam 3

fingerprint() { "$RNNSEARCH" inspect "$1" | awk '/fingerprint/ { print $NF }'; }
train=$(train_arguments run 2)
between "rank 1 on $host|$(fingerprint other/corpus.h5)|rank 0 on $host|$(fingerprint corpus.h5)|same file" other $train
between "cannot open|without/corpus.h5|rank 1 on $host|rank 0 on $host has it" without $train
between "cannot open|nowhere.h5" without ${train/corpus.h5/nowhere.h5}
# Two corpora with the same training pairs and other dev sets have the same fingerprint.
mkdir dev
"$RNNSEARCH" prepare --train-source text/train.source --train-target text/train.target --dev-source other/text/dev.source \
  --dev-target other/text/dev.target --tokenizer none --output dev/corpus.h5 >/dev/null
[[ $(fingerprint dev/corpus.h5) == "$(fingerprint corpus.h5)" ]] || fail "the dev set changes the fingerprint"
between "rank 1 on $host|$(fingerprint corpus.h5) and the digest|same file" dev $train
tiny="--embedding 8 --state 8 --alignment 8 --maxout 8 --threads 1"
between "rank 1 on $host|fingerprint" other benchmark --corpus corpus.h5 $tiny
between "rank 1 on $host|rank 0 on $host has it" without benchmark --corpus corpus.h5 $tiny

translate="translate --model model --input text/dev.source --threads 1"
between "rank 1 on $host|rank 0 on $host|digest" other $translate
between "cannot open|rank 1 on $host|rank 0 on $host has it" without $translate
between "rank 1 on $host|digest" other evaluate --model model --corpus corpus.h5 --set dev --threads 1
score="score --model $PWD/model --source text-only/dev.source --target text-only/dev.target --threads 1"
align="${score/score/align}"
# Only the root reads the texts.
for command in "$score" "$align"; do
  "$RNNSEARCH" $command >alone 2>/dev/null
  timeout 400 "$MPIEXEC" -n 1 "$RNNSEARCH" $command : -n 1 -wdir "$PWD/without" "$RNNSEARCH" $command >out 2>err || fail "$command: $(<err)"
  cmp out alone || fail "$command, whose rank 1 has no texts, gives something else than one rank"
done

# Pipes, which can be read only once.
"$RNNSEARCH" $score >alone 2>/dev/null
mkfifo pipe
for end in source target; do
  cat text-only/dev.$end >pipe &
  timeout 400 "$MPIEXEC" -n 2 "$RNNSEARCH" ${score/text-only\/dev.$end/pipe} >out 2>err || fail "the $end from a pipe: $(<err)"
  cmp out alone || fail "the $end from a pipe gives something else"
done

# Only the root checks whether a file exists that the ranks share.
mkdir damaged && cp -r model damaged/model && rm damaged/model/checkpoints/best damaged/model/checkpoints/latest
between "damaged/model|latest" . ${translate/model model/model damaged/model}
between "$PWD: it is a folder" . $translate --output "$PWD"

# More threads than CPUs.
unset RNNSEARCH_OVERSUBSCRIBE
cpus=$(nproc)
too_many=$((cpus + 1))
for command in "$train" "$translate"; do
  command="${command/--threads 1/}"
  refused 1 "on $host $too_many threads (1 rank: 0)|$cpus CPU|--oversubscribe" "$MPIEXEC" -n 1 "$RNNSEARCH" $command --threads $too_many
  refused 1 "on $host $((2 * cpus + 2)) threads (2 ranks: 0, 1)|$cpus CPU" "$MPIEXEC" -n 2 "$RNNSEARCH" $command --threads $too_many
done
refused 1 "on $host $too_many threads ($too_many ranks" "$MPIEXEC" -n $too_many "$RNNSEARCH" $translate
"$MPIEXEC" -n 2 "$RNNSEARCH" ${translate/--threads 1/} --threads $too_many --oversubscribe >meant 2>err || fail "--oversubscribe: $(<err)"
RNNSEARCH_OVERSUBSCRIBE=1 "$MPIEXEC" -n 2 "$RNNSEARCH" $translate >asked 2>err || fail "RNNSEARCH_OVERSUBSCRIBE: $(<err)"
cmp meant asked
# Without --threads the ranks of a host share its CPUs.
ranks=$((cpus < 2 ? 1 : 2))
"$MPIEXEC" -n $ranks "$RNNSEARCH" ${train/--threads 1/} 2>err || fail "shared CPUs: $(<err)"
grep -q "$ranks ranks*, $((cpus / ranks * ranks)) threads*\( on [0-9]* cores*\)*, CPUs" err || fail "the CPUs are not shared: $(<err)"

# A run that is training: its checkpoints are replaced and removed while the ranks open them.
live=$(train_arguments live "$endless")
"$RNNSEARCH" ${live/--validate-every 7/--validate-every 900000} --checkpoint-every 1 --keep-checkpoints 2 2>live.err &
until [[ -s live/checkpoints/latest ]]; do
  kill -0 $! 2>/dev/null || fail "the training ended: $(<live.err)"
  sleep 0.1
done
for _ in {1..4}; do
  for command in "$RNNSEARCH" "$MPIEXEC -n 2 $RNNSEARCH"; do
    RNNSEARCH_OVERSUBSCRIBE=1 $command ${translate/--model model/--model live} >out 2>err || fail "of a run that is training: $(<err)"
  done
done
kill $!
wait $! || true
