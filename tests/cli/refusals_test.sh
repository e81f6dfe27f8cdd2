#!/usr/bin/env bash
# Mistakes of the user and faults of the machine give a one-line error on standard error, print nothing on standard output, and leave
# all files unchanged. (Command lines that are wrong whatever is in the files are in command_test.cpp.)
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
fails() { refused 1 "$1" "$RNNSEARCH" "${@:2}"; } # FACTS ARGUMENTS...

"$SOURCE/data/reversal.sh" text --train 200 --dev 20 --test 20 >/dev/null
text=(--train-source text/train.source --train-target text/train.target --tokenizer none)
sets=(--dev-source text/dev.source --dev-target text/dev.target --test t:text/test.source:text/test.target)
"$RNNSEARCH" prepare "${text[@]}" "${sets[@]}" --output corpus.h5 >/dev/null
tiny=(--embedding 8 --state 8 --alignment 8 --maxout 8 --optimizer adam --learning-rate 0.001 --max-updates 2)
"$RNNSEARCH" train --corpus corpus.h5 --run run "${tiny[@]}" 2>/dev/null
checkpoint=run/checkpoints/update-00000002.h5
[[ -s $checkpoint ]] || fail "no checkpoint was written: $(ls run/checkpoints)"

# the command line and the files that it is in
refused 2 "unknown command '\\x1b[31mtrain\\x07'" "$RNNSEARCH" $'\e[31mtrain\a'
printf 'embedding = 8\nmaxuot = 8\n' >wrong.ini
refused 2 "wrong.ini|'maxuot'|'maxout'" "$RNNSEARCH" train --corpus corpus.h5 --run x --config wrong.ini
fails "missing.ini" train --corpus corpus.h5 --run x --config missing.ini
for preset in "$SOURCE"/pipelines/presets/*.ini; do  # what is wrong is the corpus: each preset's keys and values are good
  fails "nowhere.h5" train --corpus nowhere.h5 --run x --preset "$(basename "$preset" .ini)"
done
mkdir -p a/lr0.5 b/lr0.5  # a folder has no extension
refused 2 "'lr0.5'|name of its own" "$RNNSEARCH" evaluate --model a/lr0.5 --model b/lr0.5 --corpus corpus.h5 --set test/t

# text (that prepare refuses: corpus/prepare_test.cpp)
prepare=(prepare --output x.h5)
{ head -n 5 text/train.source; printf '1 2 \xc3\x28\n'; tail -n +7 text/train.source; } >invalid
{ head -n 5 text/train.source; printf '1 \0002\n'; tail -n +7 text/train.source; } >nul
for command in "${prepare[*]} --train-target text/train.target --train-source" "translate --model run --output y --input"; do
  read -ra words <<<"$command"
  fails "invalid|line 6|byte 5|UTF-8" "${words[@]}" invalid
  fails "nul|line 6|NUL" "${words[@]}" nul
done
cp text/test.source s.sgm
fails "s.sgm|data/lines.pl" translate --model run --output y --input s.sgm
fails "corpus.h5|--overwrite" prepare "${text[@]}" --output corpus.h5
fails "nowhere" prepare "${text[@]}" --output nowhere/x.h5
fails "none/x.json|there is no folder" evaluate --hypotheses nowhere --references nowhere --json none/x.json # before the work
fails "nowhere" translate --model run --input text/test.source --output nowhere/y
fails "text/test.source has 20|text/train.target has 200" score --model run --source text/test.source --target text/train.target
evaluate=(evaluate --hypotheses text/test.source)
fails "text/test.source has 20|text/train.target has 200" "${evaluate[@]}" --references text/train.target
fails "test/u|test/t|dev" "${evaluate[@]}" --corpus corpus.h5 --set test/u
: >empty
fails "empty is empty" "${evaluate[@]}" --references text/test.target --references empty
fails "invalid|line 6|byte 5|UTF-8" evaluate --hypotheses invalid --references text/train.target
fails "invalid|line 6|byte 5|UTF-8" evaluate --hypotheses text/train.target --references invalid

# corpora and checkpoints that are damaged, or that are other files
cp -r run bestless
rm bestless/checkpoints/update-00000002.h5
fails "bestless/checkpoints/|names update-00000002.h5|which is not there" translate --model bestless --input text/test.source
for file in corpus.h5 "$checkpoint"; do
  size=$(stat -c %s "$file") byte=$(od -An -tu1 -j $(($(stat -c %s "$file") / 2)) -N 1 "$file")
  head -c $((size / 2)) "$file" >truncated.h5
  { cat truncated.h5 && printf %b "\\x$(printf %02x $((byte ^ 16)))" && tail -c +$((size / 2 + 2)) "$file"; } >flipped.h5
  for damaged in flipped.h5 truncated.h5; do
    fails "$damaged" inspect $damaged
    if [[ $file == corpus.h5 ]]; then
      fails "$damaged" train --corpus $damaged --run x "${tiny[@]}"
    else
      fails "$damaged" translate --model $damaged --input text/test.source --output y
    fi
  done
done
fails "text/test.source" inspect text/test.source
fails "corpus.h5|rnnsearch-corpus" translate --model corpus.h5 --input text/test.source --output y
fails "$checkpoint|rnnsearch-checkpoint" train --corpus "$checkpoint" --run x "${tiny[@]}"
fails "missing.h5" translate --model missing.h5
fails "text|checkpoints" translate --model text

# runs
"$SOURCE/data/reversal.sh" other --seed 2 --train 200 --dev 20 --test 20 >/dev/null
"$RNNSEARCH" prepare --train-source other/train.source --train-target other/train.target --tokenizer none --output other.h5 >/dev/null
fails "corpus" train --corpus other.h5 --run run "${tiny[@]::10}" --max-updates 4
fails "text" train --corpus corpus.h5 --run text "${tiny[@]}"
fails "run" train --corpus corpus.h5 --run run "${tiny[@]}" --resume never

# a full disk, if this user may mount a small one
if mkdir small && mount -t tmpfs -o size=16k none small 2>/dev/null; then
  trap 'umount small' EXIT
  fails "small/x.h5" prepare "${text[@]}" --output small/x.h5
  fails "small/y" translate --model run --input text/train.source --output small/y --beam 1 --n-best 1 \
    --maximum-length-ratio 100 --minimum-length-ratio 99
fi
