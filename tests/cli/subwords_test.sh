#!/usr/bin/env bash
# Subwords from raw text to plain text: prepare, train, translate, score, align, evaluate and inspect, which need no file besides the
# corpus and, after training, no file besides the checkpoint.
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"

# The translation of a word has its letters twice, so that both sides have frequent subwords.
awk 'BEGIN {
  srand(3); split("ba do gi ku le mo na pé ri su", part, " ")
  for (i = 0; i < 700; ++i) {
    source = target = ""
    for (w = 1 + int(rand() * 4); w > 0; --w) {
      word = ""; for (k = 1 + int(rand() * 3); k > 0; --k) word = word part[1 + int(rand() * 10)]
      source = source (source == "" ? "" : " ") word; target = target (target == "" ? "" : " ") word word
    }
    print source "." >(i < 600 ? "train.source" : "test.source"); print target "!" >(i < 600 ? "train.target" : "test.target")
  }
}'
sets="--dev-source test.source --dev-target test.target"
prepare="prepare --train-source train.source --train-target train.target $sets"

# the same bytes on any number of threads, no unknown words, vocabularies of the requested sizes
"$RNNSEARCH" $prepare --subwords unigram --source-words 290 --target-words 300 --threads 1 --output corpus.h5 >said 2>/dev/null
[[ $(grep -c "covers 100.00%, 0 are <unk>" said) == 2 ]] || fail "$(cat said)"
"$RNNSEARCH" $prepare --subwords unigram --source-words 290 --target-words 300 --threads 2 --output again.h5 >/dev/null 2>&1
cmp corpus.h5 again.h5 || fail "the corpus depends on the number of threads"
"$RNNSEARCH" inspect corpus.h5 >said
{ grep -q "source_vocabulary *290" said && grep -q "target_subwords *SentencePiece unigram, 300 pieces" said; } || fail "$(cat said)"

# all other commands, from the checkpoint alone; unseen characters become bytes
"$RNNSEARCH" $(train_arguments run 60) 2>/dev/null
mv "$(last_checkpoint run)" model.h5
rm -r run corpus.h5
{ head -n 20 test.source; echo "中 ba 😀."; echo; } >input
"$RNNSEARCH" translate --model model.h5 --input input >output 2>/dev/null
[[ $(wc -l <output) == 22 && $(tail -n 1 output) == "" ]] || fail "$(wc -l <output) translations of 22 lines"
grep -q $'\xe2\x96\x81\|<0x\|@@' output && fail "pieces are in the output: $(cat output)"
awk '{ print NF ? "bado péri" : "" }' input >phrases
[[ $("$RNNSEARCH" translate --model model.h5 --input input --require phrases --beam 6 2>/dev/null | grep -cw 'bado péri') == 21 ]] ||
  fail "a required phrase is missing"
"$RNNSEARCH" score --model model.h5 --source input --target input >scores 2>/dev/null
[[ $(wc -l <scores) == 22 ]] || fail "$(wc -l <scores) scores of 22 pairs"
"$RNNSEARCH" align --model model.h5 --source test.source --target test.target --lines 1 >said 2>/dev/null
grep -q $'\xe2\x96\x81' said || fail "align shows no pieces: $(cat said)"
head -n 20 test.target >references
"$RNNSEARCH" evaluate --hypotheses ours=<(head -n 20 output) --references references >/dev/null 2>&1 || fail "evaluate fails"
"$RNNSEARCH" evaluate --hypotheses ours=test.target --corpus again.h5 --set dev --breakdown rarest >said 2>/dev/null
grep -q "100.00" said || fail "the references do not match themselves"
"$RNNSEARCH" inspect model.h5 >said
grep -q "subwords *sentencepiece" said || fail "inspect does not say what the checkpoint splits by"

"$RNNSEARCH" inspect again.h5 --pairs 3 >said
! grep -q $'\xe2\x96\x81' said || fail "inspect shows pieces in place of text: $(cat said)"
refused 1 "splits them into subwords; leave it out" "$RNNSEARCH" translate --model model.h5 --input input --replace-unknown

# a joint BPE model; the model file extracted from the corpus can be passed to prepare
"$RNNSEARCH" $prepare --subwords bpe --joint-vocabulary --source-words 310 --output joint.h5 >/dev/null 2>&1
h5dump -d /vocabulary/source_model -b LE -o bpe.model joint.h5 >/dev/null
"$RNNSEARCH" $prepare --subword-model bpe.model --joint-vocabulary --output given.h5 >/dev/null 2>&1
cmp joint.h5 given.h5 || fail "the same model, learned and given, makes two corpora"
"$RNNSEARCH" $prepare --vocabulary-of joint.h5 --output of.h5 >/dev/null 2>&1
cmp joint.h5 of.h5 || fail "--vocabulary-of does not bring the model along"
# which tied embeddings need
"$RNNSEARCH" $(train_arguments tied 10 | sed 's/corpus.h5/joint.h5/') --tied-embeddings all --checkpoint-every 5 2>/dev/null
"$RNNSEARCH" average --run tied --last 2 --output tied.h5 >/dev/null
[[ $("$RNNSEARCH" translate --model tied.h5 --input test.source 2>/dev/null | wc -l) == 100 ]] || fail "tied embeddings"

# codes of subword-nmt, applied after the tokenizer
printf '#version: 0.2\nb a\nd o\nba do\nl e</w>\n' >codes
"$RNNSEARCH" $prepare --bpe-codes codes --output codes.h5 >/dev/null 2>&1
h5dump -d /vocabulary/source/bytes -b LE -o said codes.h5 >/dev/null
grep -aq 'bado@@' said || fail "no piece of the codes is in the vocabulary"
"$RNNSEARCH" $(train_arguments run 20 | sed 's/corpus.h5/codes.h5/') 2>/dev/null
rm codes codes.h5
"$RNNSEARCH" translate --model run --input test.source >output 2>/dev/null
grep -q '@@' output && fail "marks of pieces are in the output"

refused 1 "prepare it with --joint-vocabulary" "$RNNSEARCH" $(train_arguments x 5 | sed s/corpus.h5/again.h5/) --tied-embeddings all
refused 1 "made with --tokenizer none" "$RNNSEARCH" $prepare --output other.h5 --vocabulary-of joint.h5 --tokenizer words
refused 2 "leave the tokenizer out" "$RNNSEARCH" $prepare --output other.h5 --subwords bpe --tokenizer words
refused 1 "input as codes of byte pair encoding: line 1" "$RNNSEARCH" $prepare --output other.h5 --bpe-codes input
refused 1 "input as a model of SentencePiece" "$RNNSEARCH" $prepare --output other.h5 --subword-model input
refused 1 "9000 pieces from 600 lines" "$RNNSEARCH" $prepare --output other.h5 --subwords unigram --source-words 9000
