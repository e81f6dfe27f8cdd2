#!/usr/bin/env bash
# Every preset, at small widths, through all commands: it trains; killed and resumed, it has the bits of an undisturbed run, on one
# thread and on two; it translates, and `score` agrees with the scores that search found; it aligns if it has attention, and otherwise
# says why not; and `benchmark` times it. A few presets run in bf16, too.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus

# setting PRESET OPTION: prints the value of an option in a preset, or in the preset that it changes
setting() {
  local file=$SOURCE/pipelines/presets/$1.ini base
  grep -q "^$2 = " "$file" && sed -n "s/^$2 = //p" "$file" && return
  base=$(sed -n 's/^preset = //p' "$file")
  [[ -z $base ]] || setting "$base" "$2"
}

# widths PRESET: prints options of small widths for the sizes that the preset has
widths() {
  echo --embedding 12 --state 16 --alignment 12 --maxout 8
  [[ $(setting "$1" encoder-state) != [1-9]* ]] || echo --encoder-state 8
  [[ $(setting "$1" readout-rank) != [1-9]* ]] || echo --readout-rank 6
  [[ $(setting "$1" layers) != [2-9]* ]] || echo --layers 2
  [[ -z $(setting "$1" window) ]] || echo --window 2
}

train() {  # RUN UPDATES THREADS OPTION...
  # shellcheck disable=SC2046  # widths prints options
  "$RNNSEARCH" train --preset "$preset" --corpus corpus.h5 --run "$1" --max-updates "$2" --threads "$3" $(widths "$preset") \
    --batch-sentences 12 --optimizer adam --learning-rate 0.01 --gradient-of word --initial-deviation 0.1 \
    --max-epochs 0 --validate-every 0 --checkpoint-minutes 0 --precision "$precision" "${@:4}" 2>"$1.log" || return $?
}
update_of() { "$RNNSEARCH" inspect "$1" | awk '$1 == "update" && !seen++ { print $2 }'; }

# agrees FILE: the lines 'LINE ||| TEXT ||| SCORE' of translations of text/dev.source have the scores of forced decoding. An output that
# was cut off at three times the source length has no </s>, which `score` adds, so its score is lower there.
agrees() {
  awk -F ' [|][|][|] ' 'NR == FNR { source[FNR - 1] = $0; next }
    { print source[$1] >"forced.source"; print $2 >"forced.target"
      words = split(source[$1], a, " "); print $3, split($2, b, " ") < 3 * (words + 1) ? "whole" : "cut" >"forced.found" }' \
    text/dev.source "$1"
  "$RNNSEARCH" score --model whole --source forced.source --target forced.target --threads 1 --precision "$precision" >forced.scores
  paste forced.found forced.scores |
    awk '{ d = $1 - $3; if ((d < 0 ? -d : $2 == "cut" ? 0 : d) > '$tolerance' * (1 - $3)) { ++far; print } }
         END { exit !(NR > 0 && far == 0) }' ||
    fail "$preset, $precision: found and forced scores of $1: $(paste forced.found forced.scores)"
}

try() {  # preset, precision
  preset=$1 precision=$2 tolerance=1e-4
  [[ $precision == f32 ]] || tolerance=0.02  # rows are rounded together with others
  rm -rf whole killed

  # SIGKILL at any time after the first checkpoint
  train killed 100000 1 --checkpoint-every 2 2>/dev/null &
  local job=$! pid
  until [[ -s killed/checkpoints/latest ]]; do
    kill -0 $job 2>/dev/null || fail "$preset, $precision: $(<killed.log)"
    sleep 0.02
  done
  pid=$(pgrep -P $job) && kill -9 "$pid"
  wait $job 2>/dev/null && fail "$preset: a killed training ended well"
  local last
  last=$(($(update_of killed) + 4))
  train killed "$last" 1 || fail "$preset, $precision, going on: $(<killed.log)"
  grep -q 'resumes from' killed.log || fail "$preset, $precision does not go on: $(<killed.log)"
  train whole "$last" 2 || fail "$preset, $precision: $(<whole.log)"
  expect_equal killed whole

  local machine=(--threads 2 --precision "$precision")
  translate() { "$RNNSEARCH" translate --model whole --input text/dev.source --no-unknown "${machine[@]}" "$@"; }
  translate --beam 1 >greedy
  (($(wc -l <greedy) == $(wc -l <text/dev.source))) || fail "$preset does not translate every line"
  for together in 1 3; do # with 3, sentences begin while others are searched
    [[ $precision != f32 ]] || translate --beam 1 --batch-sentences $together | cmp - greedy || fail "$preset translates otherwise by $together"
  done
  translate --beam 1 --n-best 1 >found
  cmp <(awk -F ' [|][|][|] ' '{ print $2 }' found) greedy || fail "$preset: greedy search and the first of 1 best"
  agrees found
  # sentences of different lengths in one batch and one at a time: the same numbers except for rounding
  "$RNNSEARCH" score --model whole --source forced.source --target forced.target --batch-sentences 1 "${machine[@]}" |
    paste - forced.scores | awk '{ d = $1 - $2; if ((d < 0 ? -d : d) > '$tolerance' / 10 * (1 - $2)) { ++far; print } }
                                 END { exit !(NR > 0 && far == 0) }' || fail "$preset, $precision: scores alone and together"
  translate --beam 4 --n-best 2 >found
  agrees found

  if [[ $(setting "$preset" attention) == none ]]; then
    ! "$RNNSEARCH" align --model whole --source text/dev.source --target greedy "${machine[@]}" >aligned 2>refused ||
      fail "align takes $preset, which does not attend"
    grep -q 'attention' refused || fail "align $preset does not say why not: $(<refused)"
  else
    "$RNNSEARCH" align --model whole --source text/dev.source --target greedy --pharaoh - "${machine[@]}" >aligned
    (($(wc -l <aligned) == $(wc -l <greedy))) || fail "align $preset: not a line a sentence"
  fi

  # shellcheck disable=SC2046  # widths prints options
  "$RNNSEARCH" benchmark --preset "$preset" $(widths "$preset") --corpus corpus.h5 --batch-sentences 12 --updates 1 \
    --untimed-updates 0 --machine false "${machine[@]}" >timed 2>/dev/null || fail "benchmark $preset"
}

for file in "$SOURCE"/pipelines/presets/*.ini; do
  try "$(basename "$file" .ini)" f32
done
for preset in notebook-scaled-dot replication stacked-gru luong-local-p; do
  try $preset bf16
done
