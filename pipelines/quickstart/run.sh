#!/usr/bin/env bash
# pipelines/quickstart/run.sh: from a bare Debian machine to BLEU by sentence length of RNNsearch and RNNencdec, trained
# equally long on the translations of Debian's package descriptions. Installs and builds what is missing. Every stage is
# skipped when its result is there, and training resumes: interrupt it and run it again as you like.
set -euo pipefail

# What may be changed, here or in the environment; the rest is in rnnsearch.ini and rnnencdec.ini beside this file.
work=${RNNSEARCH_WORK:-runs/quickstart} # where everything goes
ranks=${RNNSEARCH_RANKS:-2}             # MPI ranks, of one thread each
source=${RNNSEARCH_SOURCE:-en}          # any two languages of Debian's descriptions
target=${RNNSEARCH_TARGET:-fr}
source_words=${RNNSEARCH_SOURCE_WORDS:-8000}
target_words=${RNNSEARCH_TARGET_WORDS:-8000}
max_length=${RNNSEARCH_MAX_LENGTH:-50}
beam=${RNNSEARCH_BEAM:-5}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
pipelines/install.sh
pipelines/build.sh
rnnsearch=${RNNSEARCH_BUILD:-build}/rnnsearch
mkdir -p "$work"

say() { echo "[quickstart] $*"; }
in_parallel() {
  local options=()
  (($(nproc) >= ranks)) || options+=(--oversubscribe -x RNNSEARCH_OVERSUBSCRIBE=1)
  [[ $(id -u) != 0 ]] || options+=(--allow-run-as-root)
  mpirun -n "$ranks" "${options[@]}" "$@"
}

data/debian.sh "$source" "$target" "$work/text"

corpus=$work/corpus.h5
if [[ ! -e $corpus ]]; then
  say "preparing the corpus"
  "$rnnsearch" prepare --source-language "$source" --target-language "$target" \
    --train-source "$work/text/train.$source" --train-target "$work/text/train.$target" \
    --dev-source "$work/text/dev.$source" --dev-target "$work/text/dev.$target" \
    --test "debian:$work/text/test.$source:$work/text/test.$target" \
    --source-words "$source_words" --target-words "$target_words" --max-length "$max_length" --output "$corpus"
fi

hypotheses=()
for system in RNNsearch RNNencdec; do
  name=${system,,}
  run=$work/$name
  say "training $system"
  in_parallel "$rnnsearch" train --config "$here/$name.ini" --corpus "$corpus" --run "$run" --threads 1
  translation=$work/test.$name.$target
  if [[ ! $translation -nt $run/checkpoints/$(<"$run/checkpoints/best") ]]; then
    say "translating the test set with $system"
    in_parallel "$rnnsearch" translate --model "$run" --input "$work/text/test.$source" --output "$translation" \
      --beam "$beam" --normalize --threads 1
  fi
  hypotheses+=(--hypotheses "$system=$translation")
done

"$rnnsearch" evaluate "${hypotheses[@]}" --corpus "$corpus" --set test/debian >"$work/bleu.txt.new"
mv "$work/bleu.txt.new" "$work/bleu.txt"
say "BLEU on the test set"
cat "$work/bleu.txt"
say "everything lies in $work:"
cat <<END
  text/             the corpus as text; train, dev and test
  corpus.h5         the corpus as rnnsearch reads it (rnnsearch inspect $corpus)
  rnnsearch/        the runs: config.ini, log.jsonl, checkpoints, translations of the dev set
  rnnencdec/
  test.rnnsearch.$target  the translations of text/test.$source
  test.rnnencdec.$target
  bleu.txt          the table above
END
