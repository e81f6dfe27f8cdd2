#!/usr/bin/env bash
# Chinese to English: compares traditional sequence to sequence (after I. Sutskever, O. Vinyals, Q. V. Le, arXiv 1409.3215), whose decoder
# gets only the encoder's last state, with RNNsearch (arXiv 1409.0473), at the same sizes, on the same text, for the same number of
# updates. Makes BLEU by sentence length and heat maps of RNNsearch's attention.
#   pipelines/zh-en/run.sh [OPTION VALUE]... [-- OPTIONS of rnnsearch train]
#     --chinese characters|words
#                            words of the Chinese side: single characters, or the words of ICU's dictionary [characters]
#     --cell lstm|gru|tanh   cell of sequence to sequence [lstm]
#     --rounds N             trains each system N times, with the seeds 1 to N, and makes tables of the means [1]
# config.ini beside this file sets the sizes and the training; the equations are those of the presets seq2seq and rnnsearch-50. Training
# sentences have at most 50 words, or 80 if characters are words. With --text the languages are zh and en by default, and the
# vocabularies have 10,000 words. Without it the text is Debian's package descriptions, zh_CN and en, with vocabularies of 2,000 words;
# these are only some thousand pairs, enough to see that everything works. The default folder is runs/zh-en-CHINESE.
set -euo pipefail
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
pipeline=zh-en
source "$here/../experiment.sh"
source='' target=en chinese=characters cell=lstm rounds=1
read_options "chinese cell rounds" "$@"
whole_numbers rounds
case $chinese in
  characters) tokenizer=words longest=80 ;;
  words) tokenizer=icu-words longest=50 ;;
  *) fail "--chinese is '$chinese'; it must be characters or words" ;;
esac
case $cell in lstm | gru | tanh) ;; *) fail "--cell is '$cell'; it must be lstm, gru or tanh" ;; esac
if [[ -n $text ]]; then : "${source:=zh}" "${words:=10000}"; else : "${source:=zh_CN}" "${words:=2000}"; fi
: "${folder:=runs/zh-en-$chinese}"
begin
in_rounds "Chinese to English, by $chinese"

# Held-out sets are stratified by the length of the English side, because Chinese has no spaces to count words by.
find_text "--source $source --target $target --words $words --chinese $chinese --cell $cell" target
prepare "$folder/corpus.h5" "$longest" --source-words "$words" --target-words "$words" --tokenizer "$tokenizer"

options_of() { # SYSTEM
  options=(--corpus "$folder/corpus.h5" --config "$here/config.ini")
  case $1 in
    RNNsearch) options+=(--preset rnnsearch-50) ;;
    seq2seq) options+=(--preset seq2seq --cell "$cell") ;;
  esac
}
train_systems RNNsearch seq2seq # the longer training first

translate_systems seq2seq RNNsearch
if ! is_scored "$folder/table.md"; then
  say "scores"
  scored=(--corpus "$folder/corpus.h5" --set test/test --significance randomization --baseline RNNsearch --chrf true)
  evaluate "$folder/scores.txt" "${hypotheses[@]}" "${scored[@]}"
  evaluate "$folder/scores.json" "${hypotheses[@]}" "${scored[@]}" --sentences true --json -
  align RNNsearch "$folder/test.rnnsearch.$target" "$(some_lines "$test.$target")" "$folder/looked-at"
  "$RNNSEARCH" report --title "Chinese to English, by $chinese" "${runs[@]}" --evaluation "$folder/scores.json" \
    --alignment "$folder/looked-at.json" --output "$folder/report.html" --csv "$folder/csv" --markdown "$folder/report.md"
  all_systems "$folder/report.md" "$folder/table.md"
fi
cat "$folder/scores.txt"
say "results are in $folder: report.html and report.md, table.md, scores.txt, looked-at/, csv/, and the runs"
