#!/usr/bin/env bash
# Mistakes of the user and faults of the machine give a one-line error on standard error, print nothing on standard output, and leave
# all files unchanged. The exit code is 2 if the command line is wrong, whatever is in the files that it names, and else 1.
set -euo pipefail

fail() {
  echo "$*"
  exit 1
}
files() { find . -type f ! -path './.answer/*' -exec sha256sum {} + | LC_ALL=C sort -k 2; }
refusals=0
# FACTS ARGUMENTS...: the one-line error contains FACTS, which are separated by |; ARGUMENTS are those of rnnsearch
refused() { expect_refusal 1 "$@"; }
misused() { expect_refusal 2 "$@"; }
expect_refusal() {  # CODE FACTS ARGUMENTS...
  local code=$1 facts=$2 before answer fact status=0
  shift 2
  before=$(files)
  mkdir -p .answer
  "$RNNSEARCH" "$@" >.answer/out 2>.answer/err </dev/null || status=$?
  answer=$(grep -v '^\[' .answer/err) || true  # lines in brackets are progress
  [[ $status == "$code" ]] || fail "rnnsearch $*: exit code $status instead of $code: $answer"
  [[ ! -s .answer/out ]] || fail "rnnsearch $*: standard output holds: $(<.answer/out)"
  [[ $(wc -l <<<"$answer") == 1 ]] || fail "rnnsearch $*: not one line: $answer"
  [[ $answer != *[[:cntrl:]]* ]] || fail "rnnsearch $*: not all of it is text: $(cat -v <<<"$answer")"
  [[ $answer == "rnnsearch"* ]] || fail "rnnsearch $*: the line does not begin with rnnsearch: $answer"
  while IFS= read -r -d '|' fact; do
    [[ $answer == *"$fact"* ]] || fail "rnnsearch $*: '$fact' is not in: $answer"
  done <<<"$facts|"
  [[ $(files) == "$before" ]] || fail "rnnsearch $*: files changed: $(diff <(echo "$before") <(files))"
  refusals=$((refusals + 1))
}

"$SOURCE/data/reversal.sh" text --train 200 --dev 20 --test 20 >/dev/null
text=(--train-source text/train.source --train-target text/train.target --tokenizer none)
sets=(--dev-source text/dev.source --dev-target text/dev.target --test t:text/test.source:text/test.target)
"$RNNSEARCH" prepare "${text[@]}" "${sets[@]}" --output corpus.h5 >/dev/null
tiny=(--embedding 8 --state 8 --alignment 8 --maxout 8 --optimizer adam --learning-rate 0.001 --max-updates 2)
"$RNNSEARCH" train --corpus corpus.h5 --run run "${tiny[@]}" 2>/dev/null
checkpoint=run/checkpoints/update-00000002.h5
[[ -s $checkpoint ]] || fail "no checkpoint was written: $(ls run/checkpoints)"

# the command line
misused "unknown command 'tarin'|train" tarin
misused "unknown command '\\x1b[31mtrain\\x07'" $'\e[31mtrain\a'
misused "unknown option '--ouptut'|--output" prepare --ouptut x.h5
misused "--max-length|'many'|whole number" prepare "${text[@]}" --output x.h5 --max-length many
misused "--source-words|'0'|4" prepare "${text[@]}" --output x.h5 --source-words 0
misused "--output is missing" prepare "${text[@]}"
for option in pairs=100 seed=2 normalization=nfkc; do
  misused "--subword-${option%=*}|--subwords unigram or bpe" prepare "${text[@]}" --output x.h5 --subword-$option
done
misused "--script-share|--source-script" prepare "${text[@]}" --output x.h5 --script-share 0.9
misused "--beam|'0'" translate --model run --beam 0
cp -r run bestless
rm bestless/checkpoints/update-00000002.h5
refused "bestless/checkpoints/|names update-00000002.h5|which is not there" translate --model bestless --input text/test.source
for command in train translate score rescore evaluate align benchmark; do
  choices='f32, bf16, int8 or auto' # a training has no int8
  [[ $command != train ]] || choices='f32, bf16 or auto'
  misused "--precision|'f16'|$choices" $command --precision f16
done
misused "--n-best is 5|--beam is 2" translate --model run --n-best 5 --beam 2
misused "unexpected argument 'more'" evaluate more
misused "unknown preset 'smal'|small" train --corpus corpus.h5 --run x --preset smal
printf 'embedding = 8\nmaxuot = 8\n' >wrong.ini
misused "wrong.ini|'maxuot'|'maxout'" train --corpus corpus.h5 --run x --config wrong.ini
misused "validation-share = 0.1 with schedule = plateau|the clock|another schedule" \
  train --corpus corpus.h5 --run x --validation-share 0.1 --schedule plateau
for preset in "$SOURCE"/pipelines/presets/*.ini; do  # what is wrong is the corpus: each preset's keys and values are good
  refused "nowhere.h5" train --corpus nowhere.h5 --run x --preset "$(basename "$preset" .ini)"
done
refused "missing.ini" train --corpus corpus.h5 --run x --config missing.ini

# text
head -n 150 text/train.target >short
refused "text/train.source|200|short|150" prepare --train-source text/train.source --train-target short --output x.h5
refused "text/test.source|20|short|150" prepare "${text[@]}" --test t:text/test.source:short --output x.h5
{ head -n 5 text/train.source; printf '1 2 \xc3\x28\n'; tail -n +7 text/train.source; } >invalid
refused "invalid|line 6|byte 5|UTF-8" prepare --train-source invalid --train-target text/train.target --output x.h5
refused "invalid|line 6|byte 5" translate --model run --input invalid --output y
{ head -n 5 text/train.source; printf '1 \0002\n'; tail -n +7 text/train.source; } >nul
refused "nul|line 6|NUL" prepare --train-source nul --train-target text/train.target --output x.h5
refused "nul|line 6|NUL" translate --model run --input nul --output y
: >empty
refused "empty" prepare --train-source empty --train-target empty --output x.h5
refused "empty" evaluate --hypotheses empty --references empty
printf '\n%.0s' {1..200} >blank
refused "200" prepare --train-source blank --train-target text/train.target --output x.h5  # all filtered: by reason
awk 'NF > 3' text/train.source >long
refused "$(wc -l <long)" prepare --train-source long --train-target long --tokenizer none --max-length 3 --output x.h5
refused "100|20" prepare "${text[@]}" --source-words 100 --output x.h5  # more vocabulary than words
refused "missing" prepare --train-source missing --train-target missing --output x.h5
refused "text" prepare --train-source text --train-target text --output x.h5  # a folder
refused "corpus.h5|--overwrite" prepare "${text[@]}" --output corpus.h5
refused "nowhere" prepare "${text[@]}" --output nowhere/x.h5
refused "nowhere" translate --model run --input text/test.source --output nowhere/y
refused "text/test.source has 20|text/train.target has 200" score --model run --source text/test.source \
  --target text/train.target
refused "text/test.source has 20|text/train.target has 200" evaluate --hypotheses text/test.source \
  --references text/train.target
refused "test/u|test/t|dev" evaluate --hypotheses text/test.source --corpus corpus.h5 --set test/u
misused "--references" evaluate --hypotheses text/test.source
evaluate=(evaluate --hypotheses text/test.source --references text/test.target)
refused "text/test.target has 20|short has 150" "${evaluate[@]}" --references short
refused "empty is empty" evaluate --hypotheses text/test.source --references empty
refused "invalid|line 6|byte 5|UTF-8" evaluate --hypotheses invalid --references text/train.target
refused "invalid|line 6|byte 5|UTF-8" evaluate --hypotheses text/train.target --references invalid
cp text/test.source s.sgm
refused "s.sgm|data/lines.pl" translate --model run --input s.sgm --output y
rm s.sgm
same() { # two commands of rnnsearch, each one word: they print the same
  # shellcheck disable=SC2086  # a command and its options
  { "$RNNSEARCH" $1 >.answer/one && "$RNNSEARCH" $2 >.answer/two && cmp .answer/one .answer/two; } ||
    fail "rnnsearch $1: not as rnnsearch $2"
}
# compressed text, recognised by its first bytes
gzip -c text/test.source >source.packed
xz -c text/test.target >target.packed
same "translate --model run --input source.packed" "translate --model run --input text/test.source"
same "score --model run --source source.packed --target target.packed" \
  "score --model run --source text/test.source --target text/test.target"
same "align --model run --source source.packed --target target.packed" \
  "align --model run --source text/test.source --target text/test.target"
same "evaluate --hypotheses h=target.packed --references target.packed" \
  "evaluate --hypotheses h=text/test.target --references text/test.target"
head -c 60 source.packed >half.packed
refused "half.packed" translate --model run --input half.packed --output y
refused "half.packed" score --model run --source half.packed --target target.packed
rm {source,target,half}.packed

misused "10|and then at 5|ascending" "${evaluate[@]}" --edges 10,5
misused "10|and then at 10|ascending" "${evaluate[@]}" --edges 10,10
misused "--edges" "${evaluate[@]}" --edges ten
misused "'test'|NAME=FILE" "${evaluate[@]}" --hypotheses text/test.target
misused "'a'|name of its own" evaluate --hypotheses a=text/test.source --hypotheses a=text/dev.source \
  --references text/test.target
misused "--significance|only 'test'" "${evaluate[@]}" --significance bootstrap
misused "--baseline is 'b'|test, a" "${evaluate[@]}" --hypotheses a=text/test.target --significance bootstrap --baseline b
misused "--baseline|--significance" "${evaluate[@]}" --hypotheses a=text/test.target --baseline a
misused "--significance|'t-test'|randomization" "${evaluate[@]}" --significance t-test
misused "--significance-samples|'0'" "${evaluate[@]}" --significance-samples 0
misused "--source is missing|longest" "${evaluate[@]}" --bucket-by longest
misused "--length-tokenizer|'word'|13a" "${evaluate[@]}" --length-tokenizer word
misused "--breakdown|--corpus" "${evaluate[@]}" --breakdown unknown
misused "--breakdown|'words'|unknown, rarest or frequency" evaluate --hypotheses text/test.source --corpus corpus.h5 \
  --set test/t --breakdown words
misused "--sentences|--json" "${evaluate[@]}" --sentences
misused "--details|--json" "${evaluate[@]}" --details --json
misused "--smooth-value|floor or add-k|exp" "${evaluate[@]}" --smooth-value 0.5
misused "--significance-samples|bootstrap or randomization" "${evaluate[@]}" --significance-samples 10
misused "--no-unknown|--model|--hypotheses" "${evaluate[@]}" --no-unknown
misused "--beam|--model|--hypotheses" "${evaluate[@]}" --beam 3
mkdir -p a/lr0.5 b/lr0.5  # a folder has no extension
misused "'lr0.5'|name of its own" evaluate --model a/lr0.5 --model b/lr0.5 --corpus corpus.h5 --set test/t
misused "--max-line-bytes is for files of text|leave it out" evaluate --model run --corpus corpus.h5 --set dev --max-line-bytes 9

# corpora and checkpoints that are damaged, or that are other files
flip() {  # file, offset: the byte there with a bit of it turned over
  local byte
  byte=$(od -An -tu1 -j "$2" -N 1 "$1")
  printf %b "\\x$(printf %02x $((byte ^ 16)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
for kind in corpus checkpoint; do
  if [[ $kind == corpus ]]; then file=corpus.h5; else file=$checkpoint; fi
  size=$(stat -c %s "$file")
  cp "$file" flipped.h5 && flip flipped.h5 $((size / 2))
  head -c $((size / 2)) "$file" >truncated.h5
  for damaged in flipped truncated; do
    refused "$damaged.h5" inspect "$damaged.h5"
    if [[ $kind == corpus ]]; then
      refused "$damaged.h5" evaluate --hypotheses text/test.source --corpus $damaged.h5 --set test/t
      refused "$damaged.h5" train --corpus $damaged.h5 --run x "${tiny[@]}"
    else
      refused "$damaged.h5" translate --model $damaged.h5 --input text/test.source --output y
      refused "$damaged.h5" score --model $damaged.h5 --source text/test.source --target text/test.target
    fi
  done
done
refused "text/test.source" inspect text/test.source
refused "corpus.h5|rnnsearch-corpus" translate --model corpus.h5 --input text/test.source --output y
refused "$checkpoint|rnnsearch-checkpoint" train --corpus "$checkpoint" --run x "${tiny[@]}"
refused "missing.h5" translate --model missing.h5
refused "text|checkpoints" translate --model text

# runs
"$SOURCE/data/reversal.sh" other --seed 2 --train 200 --dev 20 --test 20 >/dev/null
"$RNNSEARCH" prepare --train-source other/train.source --train-target other/train.target --tokenizer none \
  --output other.h5 >/dev/null
refused "corpus" train --corpus other.h5 --run run "${tiny[@]::10}" --max-updates 4
refused "run|state" train --corpus corpus.h5 --run run "${tiny[@]}" --seed 1 --state-word previous
refused "text" train --corpus corpus.h5 --run text "${tiny[@]}"
refused "run" train --corpus corpus.h5 --run run "${tiny[@]}" --resume never

# a full disk, if this user may mount a small one
if mkdir small && mount -t tmpfs -o size=16k none small 2>/dev/null; then
  trap 'umount small' EXIT
  refused "small/x.h5" prepare "${text[@]}" --output small/x.h5
  refused "small/y" translate --model run --input text/train.source --output small/y --beam 1 --n-best 1 \
    --maximum-length-ratio 100 --minimum-length-ratio 99
fi
echo "$refusals refusals"
