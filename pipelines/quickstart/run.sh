#!/usr/bin/env bash
# pipelines/quickstart/run.sh: on a bare Debian machine, installs and builds what is missing, trains RNNsearch and RNNencdec
# on the translations of Debian's package descriptions with the same number of updates, and prints BLEU by sentence length.
# Each stage is skipped when its result exists, and an interrupted training resumes: stop the script and run it again as
# you like. Arguments are passed on to `rnnsearch train`, for both systems: pipelines/quickstart/run.sh --seed 2
set -euo pipefail

# Settings, which can be changed here or in the environment. config.ini beside this file sets the model and its training.
work=${RNNSEARCH_WORK:-runs/quickstart} # the folder for all results
ranks=${RNNSEARCH_RANKS:-2}             # MPI ranks, each with one thread
source=${RNNSEARCH_SOURCE:-en}          # source and target: any two languages of Debian's descriptions
target=${RNNSEARCH_TARGET:-fr}
minutes=${RNNSEARCH_MINUTES:-12}        # time limit for training RNNsearch; RNNencdec gets the same number of updates
updates=${RNNSEARCH_UPDATES:-0}         # maximum number of updates; 0: no limit
subwords=${RNNSEARCH_SUBWORDS:-4000}    # size of each vocabulary, in subwords
max_length=${RNNSEARCH_MAX_LENGTH:-200} # training pairs with more subwords on either side are left out
beam=${RNNSEARCH_BEAM:-10}              # beam width of the translations
retry_below=${RNNSEARCH_RETRY_BELOW:-500} # rnnsearch translate --retry-below

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
CDPATH='' cd -- "$here/../.."
[[ $work != -* ]] || work=./$work # a name that begins with a dash would be read as an option
say() { printf '[quickstart] %3d:%02d %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*"; }
path=$(realpath -m -- "$work")
if [[ $path == *[$'#\n\r']* ]]; then
  echo "quickstart: the path ${path@Q} has a # or a line break, which a run's config.ini cannot hold; set RNNSEARCH_WORK" >&2
  exit 1
fi
if [[ -z ${RNNSEARCH:-} ]]; then # RNNSEARCH may name an existing program
  pipelines/build.sh --check
  say "installing what is missing, and building"
  pipelines/install.sh
  pipelines/build.sh
fi
rnnsearch=${RNNSEARCH:-${RNNSEARCH_BUILD:-build}/rnnsearch}
mkdir -p "$work"

in_parallel() {
  local options=()
  (($(nproc) >= ranks)) || options+=(--oversubscribe -x RNNSEARCH_OVERSUBSCRIBE=1)
  [[ $(id -u) != 0 ]] || options+=(--allow-run-as-root)
  mpirun -n "$ranks" "${options[@]}" "$@"
}
updates_of() { # RUN: the number of updates in its newest checkpoint
  local checkpoint
  checkpoint=$(basename "$(<"$1/checkpoints/latest")" .h5)
  echo $((10#${checkpoint#update-}))
}

text=$work/text
say "making the corpus"
data/debian.sh "$source" "$target" "$text"
corpus=$work/corpus.h5
if [[ ! -e $corpus ]]; then
  say "preparing the corpus: learning subwords, numbering them"
  "$rnnsearch" prepare --source-language "$source" --target-language "$target" \
    --train-source "$text/train.$source" --train-target "$text/train.$target" \
    --dev-source "$text/dev.$source" --dev-target "$text/dev.$target" \
    --test "debian:${text//:/\\:}/test.$source:${text//:/\\:}/test.$target" \
    --subwords bpe --source-words "$subwords" --target-words "$subwords" --max-length "$max_length" --output "$corpus"
fi

search="beam $beam, retried below $retry_below"
[[ -s $work/search && $(<"$work/search") == "$search" ]] || rm -f "$work"/test.*."$target" # translations made by another search
echo "$search" >"$work/search"
hypotheses=() runs=()
for system in RNNsearch RNNencdec; do
  run=$work/${system,,}
  limits=(--attention additive --max-minutes "$minutes" --max-updates "$updates")
  if [[ $system == RNNencdec ]]; then
    limits=(--attention none --max-updates "$(updates_of "$work/rnnsearch")")
  fi
  say "training $system"
  in_parallel "$rnnsearch" train --config "$here/config.ini" --corpus "$corpus" --run "$run" --threads 1 "${limits[@]}" "$@"
  translation=$work/test.${system,,}.$target
  if [[ ! $translation -nt $run/checkpoints/$(<"$run/checkpoints/best") ]]; then
    say "translating the test set with $system, which was trained with $(updates_of "$run") updates"
    in_parallel "$rnnsearch" translate --model "$run" --input "$text/test.$source" --output "$translation" \
      --beam "$beam" --retry-below "$retry_below" --normalize --threads 1
  fi
  hypotheses+=(--hypotheses "$system=$translation")
  runs+=(--run "$system=$run")
done

say "scoring"
# 41 to 60 words are one bucket, because 41 to 50 and 51 to 60 have too few sentences each for a reliable BLEU.
scores=("${hypotheses[@]}" --corpus "$corpus" --set test/debian --edges "10,20,30,40,60")
"$rnnsearch" evaluate "${scores[@]}" --chart >"$work/bleu.txt.new"
"$rnnsearch" evaluate "${scores[@]}" --json --sentences >"$work/bleu.json.new"
mv "$work/bleu.txt.new" "$work/bleu.txt"
mv "$work/bleu.json.new" "$work/bleu.json"
"$rnnsearch" report --title "RNNsearch and RNNencdec, $source to $target" "${runs[@]}" --evaluation "$work/bleu.json" \
  --output "$work/report.html"
say "BLEU on the test set, by length of the reference"
cat "$work/bleu.txt"
say "done. In $work:"
cat <<END
  report.html             the figure, the learning curves and the best and worst sentences on one page: open it in a browser
  bleu.txt, bleu.json     the table above
  test.rnnsearch.$target       the translations of text/test.$source
  test.rnnencdec.$target
  rnnsearch/, rnnencdec/  the runs: configuration, log, checkpoints
  corpus.h5               the corpus as rnnsearch reads it; see what it holds: $rnnsearch inspect $corpus
  text/                   the corpus as text: train, dev and test
END
