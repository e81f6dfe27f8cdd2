#!/usr/bin/env bash
# pipelines/reversal/run.sh: RNNsearch learns to reverse sequences of up to 15 of 20 words, and must get more than 99% of
# the unseen test sequences exactly right; exit code 1 otherwise. Safe to interrupt and to repeat.
set -euo pipefail

work=${RNNSEARCH_WORK:-runs/reversal}
ranks=${RNNSEARCH_RANKS:-2}
required=99 # percent of the test sequences

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
pipelines/install.sh
pipelines/build.sh
rnnsearch=${RNNSEARCH_BUILD:-build}/rnnsearch
mkdir -p "$work"
options=()
(($(nproc) >= ranks)) || options+=(--oversubscribe -x RNNSEARCH_OVERSUBSCRIBE=1)
[[ $(id -u) != 0 ]] || options+=(--allow-run-as-root)

data/reversal.sh "$work/text"
if [[ ! -e $work/corpus.h5 ]]; then
  "$rnnsearch" prepare --tokenizer none --source-language forward --target-language backward \
    --train-source "$work/text/train.source" --train-target "$work/text/train.target" \
    --dev-source "$work/text/dev.source" --dev-target "$work/text/dev.target" \
    --test "reversal:$work/text/test.source:$work/text/test.target" --output "$work/corpus.h5"
fi
mpirun -n "$ranks" "${options[@]}" \
  "$rnnsearch" train --config "$here/config.ini" --corpus "$work/corpus.h5" --run "$work/run" --threads 1
"$rnnsearch" translate --model "$work/run" --input "$work/text/test.source" --output "$work/test.output"

paste -d '\n' "$work/test.output" "$work/text/test.target" | awk -v required="$required" '
  NR % 2 { output = $0; next }
  { ++all; right += output == $0 }
  END {
    printf "[reversal] %d of %d test sequences exactly right: %.2f%%\n", right, all, 100 * right / all
    exit !(100 * right > required * all)
  }'
