#!/usr/bin/env bash
# One hash: `inspect --hash` of five systems after 200 updates, and the bytes of their translations and scores, are those below, whatever
# the instruction set, the compiler, the MPI, the number of ranks and threads, and also when the run was killed and resumed elsewhere.
# The hashes are the promise: they change only with a commit that says so. With RNNSEARCH_TEST_LONG=1 it tries the whole matrix. It
# can be run with any build, for instance one for arm64: RNNSEARCH=PROGRAM, and RANKS=1 without a launcher.
# shellcheck disable=SC2086  # lists of options are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
head -n 12 text/dev.source >source

declare -A options=(
  [rnnsearch]="--dropout 0.2"
  [rnnencdec]="--attention none --label-smoothing 0.1"
  [general-lstm]="--cell lstm --attention general --layers 2 --readout tanh --readout-state current --state-word previous --input-feeding"
  [stacked-gru]="--layers 2 --layer-normalization --gru-reset after --dropout 0.1 --dropout-kind variational"
  [notebook]="--preset notebook --dropout 0"
  [bf16]="--dropout 0.2 --precision bf16"
)
declare -A hash=(
  [corpus]=d96f57497d87d408c7af1f72d752a784
  [rnnsearch]=bde210315febacbabea4fb2efa933b1f
  [rnnencdec]=3a17898f69174ba25dd0110f6ae4c7b7
  [general-lstm]=fac0fbe7bad56728e7b57bce7042fae5
  [stacked-gru]=aa714279156f942344a6b0c852c4f2b9
  [notebook]=44b781575f50adaa4d864630a5ebd89f
  [bf16]=d7b3efda64a24c9c0880f2e28a0a6fd1
  [translations]=aeed6496b807f3d30fe7e9b1947ba56f
  [scores]=87bf2eac92128ae9fbf596e5a2796465
)
is() { # NAME FOUND WHERE
  [[ $2 == "${hash[$1]}" ]] || { echo "$1: $3: the hash is $2, not ${hash[$1]}" && wrong=1; } >&2
}
wrong=0

# train SIMD RANKS THREADS SYSTEM RUN [OPTION...]
train() {
  local launcher=()
  [[ $2 == 1 ]] || launcher=("$MPIEXEC" -n "$2")
  RNNSEARCH_SIMD=$1 "${launcher[@]}" "$RNNSEARCH" train --corpus corpus.h5 --run "$5" --embedding 12 --state 24 --alignment 16 --maxout 12 \
    --optimizer adam --learning-rate 0.01 --batch-sentences 12 --validate-every 100 --checkpoint-every 20 --checkpoint-minutes 0 \
    --precision f32 ${options[$4]} --reproducible-shards 8 --threads "$3" "${@:6}" 2>>"$5.log"
}
# whole SIMD RANKS THREADS SYSTEM
whole() {
  local run=$4-$1-$2-$3
  train "$1" "$2" "$3" "$4" $run --max-updates 200 || fail "$run: $(tail -3 $run.log)"
  is "$4" "$("$RNNSEARCH" inspect --hash $run)" "$run"
}
# killed SYSTEM: begins with AVX2 and two threads, and goes on with two ranks and the processor's best instructions
killed() {
  { train avx2 1 2 "$1" killed-$1 --max-updates 150 || true; } 2>/dev/null &
  local job=$!
  until [[ -e killed-$1/checkpoints/latest ]] || ! kill -0 $job 2>/dev/null; do sleep 0.01; done
  pkill -KILL -P $job rnnsearch || true
  wait $job 2>/dev/null || true
  train avx512 $many 1 "$1" killed-$1 --max-updates 200 || fail "killed-$1: $(tail -3 killed-$1.log)"
  is "$1" "$("$RNNSEARCH" inspect --hash killed-$1)" "killed and resumed"
}
# used SIMD RANKS THREADS
used() {
  local launcher=()
  [[ $2 == 1 ]] || launcher=("$MPIEXEC" -n "$2")
  for system in rnnsearch general-lstm; do
    RNNSEARCH_SIMD=$1 "${launcher[@]}" "$RNNSEARCH" translate --model $system-avx512-1-1 --input source --output list-$system --precision f32 \
      --beam 4 --n-best 3 --n-best-format json --threads "$3"
    RNNSEARCH_SIMD=$1 "${launcher[@]}" "$RNNSEARCH" score --model $system-avx512-1-1 --source text/dev.source --target text/dev.target \
      --precision f32 --threads "$3" >scores-$system 2>/dev/null
  done
  is translations "$(cat list-* | md5sum | cut -c -32)" "translate with $*"
  is scores "$(cat scores-* | md5sum | cut -c -32)" "score with $*"
}

many=${RANKS:-2}
systems=(rnnsearch rnnencdec general-lstm stacked-gru notebook)
is corpus "$("$RNNSEARCH" inspect --hash corpus.h5)" "corpus.h5"
for system in "${systems[@]}"; do
  whole avx512 1 1 $system
  whole avx2 "$many" 2 $system
done
whole avx512 1 2 bf16
whole avx2 "$many" 1 bf16
killed rnnsearch
killed stacked-gru
used avx512 1 1
used avx2 "$many" 2
if [[ -n ${RNNSEARCH_TEST_LONG-} ]]; then
  for system in "${systems[@]}"; do
    for simd in avx2 avx512; do
      for ranks in 1 2 4 8; do
        for threads in 1 2 4; do whole $simd $ranks $threads "$system"; done
      done
    done
    killed "$system"
  done
  for ranks in 1 2 4; do
    for threads in 1 2 4; do used avx2 $ranks $threads && used avx512 $ranks $threads; done
  done
fi
((wrong == 0)) || fail "a hash is another one"
