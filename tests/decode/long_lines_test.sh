#!/usr/bin/env bash
# A line of more words than --maximum-source-length is translated as its parts on their own would be, and translate and evaluate say so;
# the parts end where sentences end. The same on any number of ranks.
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
"$SOURCE/data/reversal.sh" text --vocabulary 10 --max-length 7 --train 600 --dev 16 --test 16 >/dev/null
for side in source target; do
  awk 'NR % 3 == 0 {print $0 " ."; next} 1' text/train.$side >train.$side # the model knows the full stop
done
"$RNNSEARCH" prepare --train-source train.source --train-target train.target --dev-source text/dev.source --dev-target text/dev.target \
  --tokenizer none --output corpus.h5 >/dev/null
"$RNNSEARCH" $(train_arguments run 40) 2>/dev/null

# Sentences of at most 8 words, one a line; then lines of 1 to 5 of them, empty lines, and a line that has no sentence end.
for _ in 1 2 3 4; do sed 's/$/ ./' text/dev.source; done >sentences
awk '{line = line (line == "" ? "" : " ") $0; if (++n > NR / 3 % 5) {print line; line = ""; n = 0}}
  NR % 16 == 0 {print ""}
  END {print line}' sentences >lines
printf '1 2 3 4 5 6 7 8 9 1 2 3\n' >>lines
longest=8
# The parts: as many sentences as fit, by a reading of the text alone.
awk -v longest=$longest '
  {
    n = split($0, word, " "); part = sentence = ""; words = length_of_sentence = parts = 0
    for (i = 1; i <= n; ++i) {
      sentence = sentence (sentence == "" ? "" : " ") word[i]; ++length_of_sentence
      if (word[i] != "." && length_of_sentence < longest && i < n) continue
      if (words > 0 && words + length_of_sentence > longest) {print NR, part; part = ""; words = 0}
      part = part (part == "" ? "" : " ") sentence; words += length_of_sentence
      sentence = ""; length_of_sentence = 0
    }
    print NR, part
  }' lines >numbered
cut -d ' ' -f 2- -s numbered >parts
search="--precision f32 --threads 1 --beam 4 --normalize"
"$RNNSEARCH" translate --model run --input parts --output of-parts $search
paste -d ' ' <(cut -d ' ' -f 1 numbered) of-parts |
  awk 'BEGIN {line = 1} {n = $1; sub(/^[0-9]+ ?/, ""); while (line < n) {print text; text = ""; ++line}
    text = text (text == "" || $0 == "" ? "" : " ") $0} END {print text}' >expected

"$RNNSEARCH" translate --model run --input lines --output found $search --maximum-source-length $longest 2>said
cmp expected found || fail "a line is not translated as its parts are: $(diff expected found | head -n 4)"
long=$(awk -v longest=$longest 'NF > longest' lines | wc -l)
said="\[translate\] $long lines have more words than --maximum-source-length, $longest, and were translated in parts"
grep -qx "$said, split where sentences end" said || fail "it does not speak of $long lines: $(<said)"
((long > 5)) || fail "only $long lines are long"
"$MPIEXEC" -n 3 "$RNNSEARCH" translate --model run --input lines --output of-ranks $search --maximum-source-length $longest 2>said ||
  fail "three ranks: $(<said)"
cmp found of-ranks || fail "three ranks translate otherwise"
grep -q "\[translate\] $long lines have" said || fail "three ranks do not speak of $long lines: $(<said)"

# Nothing is split unless it must be.
"$RNNSEARCH" translate --model run --input lines --output whole $search --maximum-source-length 0 2>said
"$RNNSEARCH" translate --model run --input lines --output default $search 2>>said
cmp whole default || fail "1,000 words are not the default, or short lines are split"
! grep 'in parts' said || fail "lines are split without need"
! cmp -s whole found || fail "the whole lines are translated as their parts are"

"$RNNSEARCH" evaluate --model run --corpus corpus.h5 --set dev --maximum-source-length 2 2>said >/dev/null
grep -q '^\[evaluate\] run: [0-9]* lines have more words than --maximum-source-length, 2,' said || fail "evaluate: $(<said)"
