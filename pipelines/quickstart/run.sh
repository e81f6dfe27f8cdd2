#!/usr/bin/env bash
# On a bare Debian machine, installs and builds what is missing, trains RNNsearch and RNNencdec on the translations of Debian's package
# descriptions with the same number of updates, and prints BLEU by sentence length. After the first three minutes of training it shows what
# RNNsearch has learned.
#   pipelines/quickstart/run.sh [OPTION VALUE]... [-- OPTIONS of rnnsearch train]
#     --max-minutes N   minutes of training RNNsearch; RNNencdec gets the same number of updates [14]
#     --max-updates N   largest number of updates; 0: no limit [0]
#     --recipe NAME     standard: config.ini. fast, for trainings of some minutes: word alignments that prepare learns guide the attention
#                       of RNNsearch, and dropout stays small [standard]
#     --max-length N    training pairs with more subwords on either side are left out [200]
# config.ini beside this file sets the model and its training. Words are subwords, by default 16,000 that both languages share. The
# default folder is runs/quickstart, and each training runs on two MPI ranks (--launch mpirun).
set -euo pipefail
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
pipeline=quickstart
source "$here/../experiment.sh"
launch=mpirun words=16000 folder=runs/quickstart max_minutes=14 max_updates=0 max_length=200 recipe=standard
read_options "max-minutes max-updates max-length recipe" "$@"
alignments=() schedule=() guided=()
case $recipe in
  standard) ;;
  fast)
    alignments=(--learn-alignments)
    schedule=(--dropout 0:0.1@4000) guided=(--guided-alignment 1:0@4000)
    ;;
  *) fail "--recipe is '$recipe'; it must be standard or fast" ;;
esac
begin

find_text "--source $source --target $target --joint-vocabulary $words --max-length $max_length --recipe $recipe"
prepare "$folder/corpus.h5" "$max_length" --subwords bpe --joint-vocabulary --source-words "$words" "${alignments[@]}"

updates_of() { # SYSTEM: prints the number of updates in its newest checkpoint
  local checkpoint
  checkpoint=$(basename "$(<"$(run_of "$1")/checkpoints/latest")" .h5)
  echo $((10#${checkpoint#update-}))
}
options_of() { # SYSTEM
  options=(--corpus "$folder/corpus.h5" --config "$here/config.ini" "${schedule[@]}")
  case $1 in
    RNNsearch) options+=("${guided[@]}" --attention additive --max-minutes "$minutes" --max-updates "$max_updates") ;;
    RNNencdec) options+=(--attention none --max-updates "$(updates_of RNNsearch)") ;;
  esac
}

# A short, a middle and a long test sentence: sentence_of LEAST MOST prints the number of the middle one of those with so many words, if any
sentence_of() {
  awk -v least="$1" -v most="$2" 'NF >= least && NF <= most {line[n++] = NR} END {if (n) print line[int(n / 2)]}' "$test.$source"
}
mapfile -t lines < <(sentence_of 6 9 && sentence_of 16 22 && sentence_of 41 55)
sentences_of() { for line in "${lines[@]}"; do sed -n "${line}p" "$1"; done; } # FILE
show() { # NAME:FILE...: prints these three sentences of each file, and the attention to the first
  local i
  for ((i = 1; i <= ${#lines[@]}; ++i)); do
    for name in "source:$folder/three.$source" "reference:$folder/three.$target" "$@"; do
      printf '\n%-9s  %s' "${name%%:*}" "$(sed -n "${i}p" "${name#*:}")"
    done
    echo
  done
  printf '\nwhat RNNsearch looks at while it writes each word of the first:\n\n'
  "$RNNSEARCH" align --model "$(run_of RNNsearch)" --source "$folder/three.$source" --target "${1#*:}" --lines 1 --heat-map 2>/dev/null |
    tail -n +2
}
for side in "$source" "$target"; do sentences_of "$test.$side" >"$folder/three.$side"; done

if [[ ! -e $folder/first.$target && $launch != slurm ]] && ((max_minutes > 3 && ${#lines[@]} > 0)); then
  minutes=3
  train_systems RNNsearch
  "$RNNSEARCH" translate --model "$(run_of RNNsearch)" --input "$folder/three.$source" --output "$folder/first.$target" --beam "$beam" --normalize
  show "RNNsearch:$folder/first.$target"
  say "training goes on; the same three sentences come at the end"
fi
minutes=$max_minutes
train_systems RNNsearch
train_systems RNNencdec

translate_systems RNNsearch RNNencdec

if ! is_scored "$folder/report.html"; then
  # 41 to 60 words are one bucket, because 41 to 50 and 51 to 60 have too few sentences each for a reliable BLEU.
  evaluate "$folder/bleu.txt" "${hypotheses[@]}" --corpus "$folder/corpus.h5" --set test/test --edges 10,20,30,40,60 --chart \
    --json "$folder/bleu.json" --sentences
  align RNNsearch "$folder/test.rnnsearch.$target" "$(IFS=, && echo "${lines[*]:-1}")" "$folder/looked-at"
  "$RNNSEARCH" report --title "RNNsearch and RNNencdec, $source to $target" "${runs[@]}" --evaluation "$folder/bleu.json" \
    --alignment "$folder/looked-at.json" --output "$folder/report.html"
fi
cat "$folder/bleu.txt"

if ((${#lines[@]} > 0)); then
  for system in rnnsearch rnnencdec; do sentences_of "$folder/test.$system.$target" >"$folder/three.$system"; done
  show "RNNsearch:$folder/three.rnnsearch" "RNNencdec:$folder/three.rnnencdec"
fi
say "the same with curves and the attention of all three is one page, which needs nothing but a browser:" \
  "$(realpath -- "$folder/report.html")"
say "results are in $folder: looked-at/ with the pictures, bleu.txt, bleu.json, test.*.$target, and the runs; see what the" \
  "corpus holds: $RNNSEARCH inspect $folder/corpus.h5"
say "translate a sentence: echo '...' | $RNNSEARCH translate --model $(run_of RNNsearch)"
