#!/usr/bin/env bash
# Compares attention scores: trains the same network on the same text for the same number of updates with every score of
# `rnnsearch train --attention`, and with none (a fixed context in place of attention). Makes BLEU by sentence length, a test whether
# each score differs from the additive score of the paper (arXiv 1409.0473), and heat maps of the attention.
#   pipelines/attention-scores/run.sh [OPTION VALUE]... [-- OPTIONS of rnnsearch train]
#     --rounds N   trains each system N times, with the seeds 1 to N, and makes tables of the means [1]
# The network is set in config.ini beside this file. By default the text is Debian's package descriptions, English to French, the
# vocabularies have 8,000 words, and the folder is runs/attention-scores.
set -euo pipefail
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
pipeline=attention-scores
source "$here/../experiment.sh"
rounds=1
read_options "rounds" "$@"
whole_numbers rounds
: "${words:=8000}" "${folder:=runs/attention-scores}"
begin
in_rounds "Scores of the attention, $source to $target"

# The list of the program, in its order, without none, which is trained last.
mapfile -t scores < <("$RNNSEARCH" train --help | sed -n 's/^ *--attention \([a-z0-9|-]*\).*/\1/p' | tr '|' '\n' | grep -vx none)
[[ " ${scores[*]} " == *" additive "* ]] || fail "rnnsearch train --help lists no scores; a line '--attention additive|...' was expected"

find_text "--source $source --target $target --words $words"
prepare "$folder/corpus.h5" 50 --source-words "$words" --target-words "$words"

options_of() { # SCORE
  options=(--corpus "$folder/corpus.h5" --config "$here/config.ini" --attention "$1")
}
systems=("${scores[@]}" none)
train_systems "${systems[@]}"

translate_systems "${systems[@]}"
if ! is_scored "$folder/table.md"; then
  say "scores"
  scored=(--corpus "$folder/corpus.h5" --set test/test --significance randomization --baseline additive --chrf true)
  evaluate "$folder/scores.txt" "${hypotheses[@]}" "${scored[@]}"
  evaluate "$folder/scores.json" "${hypotheses[@]}" "${scored[@]}" --sentences true --json -
  alignments=()
  for score in "${scores[@]}"; do
    alignments+=(--alignment "$folder/looked-at.$score.json")
    align "$score" "$folder/test.$score.$target" "$(some_lines "$test.$source")" "$folder/looked-at.$score"
  done
  "$RNNSEARCH" report --title "Scores of the attention: $source to $target" "${runs[@]}" --evaluation "$folder/scores.json" \
    "${alignments[@]}" --output "$folder/report.html" --csv "$folder/csv" --markdown "$folder/report.md"
  all_systems "$folder/report.md" "$folder/table.md"
fi
cat "$folder/scores.txt"
say "results are in $folder: report.html and report.md, table.md, scores.txt, looked-at.SCORE/, csv/, and the ${#systems[@]} runs"
