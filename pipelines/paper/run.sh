#!/usr/bin/env bash
# The paper's experiment (arXiv 1409.0473): trains RNNsearch-50, RNNsearch-30, RNNencdec-50 and RNNencdec-30 on one text, and makes
# Table 1, Figure 2 and Figure 3 of it.
#   pipelines/paper/run.sh [OPTION VALUE]... [-- OPTIONS of rnnsearch train]
#     --scale small|paper    small: one machine, small.ini beside this file; paper: the paper's sizes (pipelines/presets) [small]
# The text is English and French unless told otherwise: with small, Debian's package descriptions, with paper, WMT'14. Vocabularies
# are of 10,000 and 30,000 words. The folder is runs/paper-SCALE.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
pipeline=paper
source "$here/../experiment.sh"
scale=small
read_options scale "$@"
case $scale in small | paper) ;; *) fail "--scale is '$scale'; it must be small or paper" ;; esac
if [[ $scale == paper ]]; then : "${words:=30000}"; else : "${words:=10000}"; fi
folder=${folder:-runs/paper-$scale}
find_program
mkdir -p "$folder"

# --- text and corpora ------------------------------------------------------------------------------------------------------
if [[ -z $text ]]; then
  text=$folder/text
  if [[ $scale == paper ]]; then
    [[ $source-$target == en-fr ]] || fail "the paper's text is English and French; for $source and $target give --text PREFIX"
    "$project/data/wmt14-en-fr.sh" "$text"
  else
    "$project/data/debian.sh" "$source" "$target" "$text"
  fi
fi
find_text "--scale $scale --source $source --target $target --words $words"
# Sentences of at most 50 and at most 30 words (section 4.2), with the same vocabularies.
prepare "$folder/corpus-50.h5" 50 --source-words "$words" --target-words "$words"
prepare "$folder/corpus-30.h5" 30 --vocabulary-of "$folder/corpus-50.h5"

# --- trainings -------------------------------------------------------------------------------------------------------------
options_of() { # SYSTEM
  local name=${1,,}
  options=(--corpus "$folder/corpus-${name#*-}.h5")
  if [[ $scale == paper ]]; then
    options+=(--preset "$name")
  else
    options+=(--config "$here/small.ini")
    [[ $name != rnnencdec-* ]] || options+=(--attention none)
  fi
}
train_systems RNNsearch-50 RNNsearch-30 RNNencdec-50 RNNencdec-30 # the longest first

# --- translations: Table 1's "All", and "No UNK", where no unknown word may be produced -----------------------------------
translations_begin
paper_order=(RNNencdec-30 RNNsearch-30 RNNencdec-50 RNNsearch-50)
all=() known=()
for system in "${paper_order[@]}"; do
  translate "$system" "$folder/test.${system,,}.$target"
  translate "$system" "$folder/test.${system,,}.no-unk.$target" --no-unknown
  all+=(--hypotheses "$system=$folder/test.${system,,}.$target")
  known+=(--hypotheses "$system=$folder/test.${system,,}.no-unk.$target")
done

# --- Table 1 and Figure 2: BLEU of each system by length, and against RNNsearch-50 ----------------------------------------
scored=(--corpus "$folder/corpus-50.h5" --set test/test)
if ! is_scored "$folder/figure3.json"; then
  say "scores"
  compared=(--significance randomization --baseline RNNsearch-50)
  evaluate "$folder/scores.txt" "${all[@]}" "${scored[@]}" "${compared[@]}" --chrf true --ter true
  evaluate "$folder/scores.json" "${all[@]}" "${scored[@]}" "${compared[@]}" --chrf true --ter true --sentences true \
    --breakdown frequency --json
  evaluate "$folder/scores.no-unk.json" "${known[@]}" "${scored[@]}" --json
  perl "$here/table1.pl" "$folder/scores.json" "$folder/scores.no-unk.json" >"$folder/table1.md"

  # --- Figure 3: what RNNsearch-50 looked at
  align RNNsearch-50 "$folder/test.rnnsearch-50.no-unk.$target" "$(some_lines "$test.$source")" "$folder/figure3"
fi
pages=()
for system in "${paper_order[@]}"; do pages+=(--run "$system=$(run_of "$system")"); done
"$RNNSEARCH" report --title "Neural machine translation by jointly learning to align and translate: $source to $target" \
  "${pages[@]}" --evaluation "$folder/scores.json" --alignment "$folder/figure3.json" --output "$folder/report.html" \
  --csv "$folder/csv" --markdown "$folder/report.md"

say "Table 1"
cat "$folder/table1.md"
say "Figure 2, as numbers"
cat "$folder/scores.txt"
say "everything lies in $folder: report.html and report.md, table1.md, scores.txt, figure3/, csv/, and the four runs"
