#!/usr/bin/env bash
# Placeholders: a model that was trained for seconds copies numbers and addresses that it has never seen, by every search, on any number
# of threads and in batches of any size, and what the other commands make of such a model. The translation of a word is the word in
# capital letters, and the two parts of a sentence are exchanged, so that numbers change their order.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"

# Numbers of the training text have at most three digits, those of the test four or more.
awk 'BEGIN {
  srand(5); words = split("ba do gi ku le", word, " ")
  for (i = 0; i < 2400; ++i) {
    train = i < 2300
    a = train ? int(rand() * 1000) : 1000 + int(rand() * 1000000)
    b = train ? int(rand() * 1000) : "http://Host" int(rand() * 1000) ".org/x?y=" i
    v = word[1 + int(rand() * words)]; w = word[1 + int(rand() * words)]
    if (i % 5 == 0) { source = v " " w "."; target = toupper(w) " " toupper(v) "." }
    else if (i % 5 == 1) { source = v " (" a ")."; target = "(" a ") " toupper(v) "." }
    else { source = v " " a "km " w " " b; target = toupper(w) " " b " " toupper(v) " " a "km" }
    name = train ? "train" : i < 2320 ? "dev" : "test"
    print source >(name ".source"); print target >(name ".target")
  }
}'
text=(--train-source train.source --train-target train.target --dev-source dev.source --dev-target dev.target
  --test t:test.source:test.target)
patterns=(--copy-pattern '[0-9]+' --copy-pattern 'https?://[^ ]+')
"$RNNSEARCH" prepare "${text[@]}" "${patterns[@]}" --output corpus.h5 >/dev/null
"$RNNSEARCH" prepare "${text[@]}" "${patterns[@]}" --threads 2 --output again.h5 >/dev/null
cmp corpus.h5 again.h5 || fail "the corpus depends on the number of threads"
"$RNNSEARCH" inspect corpus.h5 >said
grep -qF "'[0-9]+', 'https?://[^ ]+'" said || fail "inspect does not say what the corpus copies: $(<said)"
"$RNNSEARCH" prepare "${text[@]}" --output plain.h5 >/dev/null
train() { # CORPUS RUN UPDATES
  "$RNNSEARCH" train --corpus "$1" --run "$2" --max-updates "$3" --embedding 24 --state 48 --alignment 24 --maxout 24 --optimizer adam \
    --learning-rate 0.01 --gradient-of word --batch-sentences 24 --validate-every 200 --validate-bleu true --checkpoint-minutes 0 \
    --precision f32 2>train.log
}
train corpus.h5 run 800
grep -o '"bleu":[0-9.]*' run/log.jsonl | tail -n 1 | awk -F : '{ exit !($2 > 90) }' ||
  fail "validation does not put the text back: $(tail -n 3 run/log.jsonl)"

# what both sides have is copied exactly, in every kind of search
translate() { "$RNNSEARCH" translate --model run "$@" 2>said; }
translate --input test.source --beam 4 >output
right=$(paste -d '\n' output test.target | awk 'NR % 2 { line = $0; next } line == $0' | wc -l)
((right >= 72)) || fail "only $right of 80 lines are right: $(diff output test.target | head)"
# spans FILE: the copied text of each line, sorted
spans() { perl -lne 'print join " ", sort m{https?://\S+|(?<!\S)\(?\K[0-9]+}g' "$1"; }
cmp <(spans output) <(spans test.source) || fail "text is not copied exactly: $(diff <(spans output) <(spans test.source) | head)"
translate --input test.source --beam 4 --threads 2 --batch-sentences 8 | cmp - output || fail "two threads, or batches of 8, translate otherwise"
"$MPIEXEC" -n 2 "$RNNSEARCH" translate --model run --input test.source --beam 4 --threads 1 2>/dev/null | cmp - output ||
  fail "two ranks translate otherwise"
translate --stream --beam 4 <test.source | cmp - output || fail "--stream translates otherwise"
translate --input test.source --beam 1 >greedy
cmp <(spans greedy) <(spans test.source) || fail "greedy search does not copy"

# each text at most once, and none that the source lacks, whatever the search
{ echo "ba 7777km do 7777"; echo "ba do."; echo "ku <copy2> 5"; } >few
translate --input few --n-best 8 --beam 8 --n-best-format moses >list
translate --input few --sample --n-best 8 --sampling-seed 3 >samples 2>/dev/null || translate --input few --sample --n-best 8 >samples
grep -q '<copy[13-9]' list samples && fail "placeholders are in translations: $(cat list samples)"
for file in list samples; do
  grep '^0 |||' $file | awk -F ' [|][|][|] ' '{ if (gsub("7777", "", $2) > 2) exit 1 }' ||
    fail "a text is copied more often than it occurs: $(<$file)"
  ! grep '^1 |||' $file | cut -d '|' -f 4 | grep -q '[0-9<]' || fail "a number comes from nowhere: $(<$file)"
done
# forced decoding reads the same words: the score of each translation is that of the search
translate --input test.source --n-best 1 --beam 4 >best
"$RNNSEARCH" score --model run --source test.source --target output >scores 2>/dev/null
paste <(sed 's/.* ||| //' best) scores | awk '{ d = $1 - $2; if (d > 1e-3 || d < -1e-3) exit 1 }' ||
  fail "score differs from search: $(paste best scores | head -n 3)"
"$RNNSEARCH" align --model run --source test.source --target output --lines 2 >said 2>/dev/null
grep -q '<copy1>' said || fail "align shows no placeholder"
"$RNNSEARCH" evaluate --hypotheses ours=output --corpus corpus.h5 --set test/t >/dev/null 2>&1 || fail "evaluate fails"

# prefixes and required words stand for the placeholders of the source
head -n 5 test.source >five
perl -ne 'print /([0-9]{4,})/ ? "$1\n" : "\n"' five >numbers
translate --input five --require numbers --beam 4 >required
paste required numbers | awk -F '\t' '$2 != "" && index($1, $2) == 0 { exit 1 }' ||
  fail "required numbers are missing: $(paste required numbers)"
[[ $(translate --input five --prefix numbers | cut -d ' ' -f 1 | paste - numbers | awk -F '\t' '$2 != "" && index($1, $2) != 1') == "" ]] ||
  fail "prefixes are lost: $(translate --input five --prefix numbers)"

# other patterns at translation
echo "ba 1234km do see@Example.org" >mail
[[ $(translate --input mail --copy-pattern '[0-9]+' --copy-pattern '[^ ]+@[^ ]+') == "DO see@Example.org BA 1234km" ]] ||
  fail "the patterns of translate are not used: $(translate --input mail --copy-pattern '[0-9]+' --copy-pattern '[^ ]+@[^ ]+')"

train plain.h5 plain 5
prepare=("$RNNSEARCH" prepare "${text[@]}" --output x.h5)
refused 1 "prepare the corpus with --copy-pattern and train again" "$RNNSEARCH" translate --model plain --copy-pattern '[0-9]+' --input few
refused 1 "no model can learn to copy" "${prepare[@]}" --copy-pattern 'nowhere'
refused 1 "its copy patterns are none" "${prepare[@]}" --copy-pattern '[0-9]+' --vocabulary-of plain.h5
"$RNNSEARCH" prepare "${text[@]}" --vocabulary-of corpus.h5 --output of.h5 >/dev/null
cmp of.h5 corpus.h5 || fail "--vocabulary-of does not bring the patterns along"

# SentencePiece keeps placeholders whole, also where text touches them
"$RNNSEARCH" prepare "${text[@]}" "${patterns[@]}" --subwords bpe --source-words 310 --target-words 310 --output pieces.h5 >/dev/null 2>&1
train pieces.h5 pieces 800
"$RNNSEARCH" translate --model pieces --input test.source --beam 4 >output 2>/dev/null
cmp <(spans output) <(spans test.source) || fail "pieces: text is not copied exactly: $(diff <(spans output) <(spans test.source) | head)"
"$RNNSEARCH" prepare "${text[@]}" --subwords bpe --joint-vocabulary --source-words 310 --output bare.h5 >/dev/null 2>&1
h5dump -d /vocabulary/source_model -b LE -o bare.model bare.h5 >/dev/null
refused 1 "train it with the user-defined symbols <copy1>, <copy2>" "${prepare[@]}" "${patterns[@]}" --subword-model bare.model
