#!/usr/bin/env bash
# pipelines/benchmark/wmt_size.sh FOLDER [PAIRS]: measures what a corpus of WMT's size costs, with random text of PAIRS pairs (default
# 40 million: 8 GB of text and 3 GB of corpus, both left in FOLDER). Prints the time and peak memory of prepare with --memory 2048, the
# seconds of train to its first update and of resuming for one more, with the corpus cached and not, and the time that updates wait
# for data. Run nothing else on the machine meanwhile.
set -euo pipefail
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
rnnsearch=${RNNSEARCH:-$here/../../${RNNSEARCH_BUILD:-build}/rnnsearch}
[[ $# == 1 || $# == 2 ]] || { sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}" >&2 && exit 1; }
[[ -x $rnnsearch ]] || { echo "wmt_size.sh: there is no $rnnsearch; build it, or set RNNSEARCH to its path" >&2 && exit 1; }
rnnsearch=$(realpath -- "$rnnsearch") pairs=${2:-40000000}
mkdir -p -- "$1"
CDPATH='' cd -- "$1"
TIMEFORMAT='%1R s'

# peak COMMAND...: runs COMMAND and prints its peak memory
peak() {
  "$@" &
  local process=$! highest=0 now
  while now=$(awk '/^VmHWM/ { print $2 }' "/proc/$process/status" 2>/dev/null) && [[ -n $now ]]; do
    highest=$now
    sleep 0.2
  done
  wait "$process"
  echo "peak memory of $2: $((highest / 1024)) MiB"
}

if [[ ! -e corpus.h5 ]]; then
  "${CXX:-c++}" -O2 -std=c++20 -o synthetic_text "$here/synthetic_text.cpp"
  echo "text of $pairs pairs:"
  time ./synthetic_text "$pairs" train.source train.target
  time peak "$rnnsearch" prepare --memory 2048 --train-source train.source --train-target train.target --tokenizer none \
    --output corpus.h5
fi
ls -lh corpus.h5

# train UPDATES: trains up to that update and prints the time of the whole command
train() {
  time "$rnnsearch" train --preset small --corpus corpus.h5 --run run --validate-every 0 --max-updates "$1" 2>train.log ||
    { cat train.log >&2 && exit 1; }
}
forget() {  # drops the corpus from the kernel's page cache
  dd if=corpus.h5 of=/dev/null iflag=nocache count=0 status=none
}
rm -rf run
forget
echo "train to the first update and its checkpoint, nothing cached:" && train 1
forget
echo "train resumed for one update, nothing cached:" && train 2
echo "train resumed for one update, cached:" && train 3
"$rnnsearch" benchmark --preset small --corpus corpus.h5 | grep -E '^(seconds|waiting|peak)'
