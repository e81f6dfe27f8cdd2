#!/usr/bin/env bash
# Faults of the environment of a command: files beyond a size limit (as on a full disk), closed standard descriptors, a terminal that
# would interpret escape sequences in a file, and another version of ICU than the one that split the training text.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
on 1 run 5

# A file that cannot grow ends translate at once, not at the end of the text, which never comes here.
for _ in {1..300}; do cat text/dev.source; done >source
"$RNNSEARCH" translate --model run --threads 1 --input source --output whole 2>/dev/null
mkfifo text-without-end
{ cat source && exec sleep 10000; } >text-without-end &
code=0
(ulimit -f 8 && exec timeout 300 "$RNNSEARCH" translate --model run --threads 1 --batch-sentences 1 --input text-without-end \
  --output output) 2>err || code=$?
lines=$(sed -n 's/.*first \([0-9]*\) lines.*/\1/p' err)
[[ $code == 1 && $(<err) == *"cannot write output.partial: File too large; "*" is in output.partial; repeat the command to continue" ]] ||
  fail "beyond a limit of files: code $code: $(<err)"
((lines > 0 && lines < 4800)) || fail "$lines lines of 4800: $(<err)"
cmp output.partial <(head -n "$lines" whole) || fail "output.partial is not the first $lines lines"
[[ ! -e output && -z $(find . -name '.output.*') ]] || fail "left behind: $(ls -A)"
rm output.partial output.partial.json
code=0
(ulimit -f 1 && exec "$RNNSEARCH" prepare --train-source text/train.source --train-target text/train.target --output small.h5) \
  >out 2>err || code=$?
[[ $code == 1 && $(grep -c '^rnnsearch' err) == 1 && ! -e small.h5 && -z $(find . -name '.small.h5*') ]] ||
  fail "prepare beyond a limit of files: code $code: $(<err) $(ls -A)"

# No file gets the number of a closed standard descriptor, because printed text would be written to it.
"$RNNSEARCH" translate --model run --threads 1 --input text-without-end --output output <&- >&- 2>&- &
job=$!
until [[ -e output.partial ]] || ! kill -0 $job 2>/dev/null; do sleep 0.01; done
for descriptor in 0 1 2; do
  [[ $(readlink /proc/$job/fd/$descriptor) == /dev/null ]] ||
    fail "descriptor $descriptor, which was closed, is $(readlink /proc/$job/fd/$descriptor)"
done
kill $job
wait $job || true
code_of "$RNNSEARCH" score --model run --threads 1 --source text/dev.source --target text/dev.target 2>err >&-
[[ $code == 1 && $(<err) == *"cannot write the results to standard output"* ]] || fail "a closed standard output: code $code: $(<err)"
code_of "$RNNSEARCH" translate --model run --threads 1 <&- >out 2>err
[[ $code == 1 && $(<err) == *"cannot read standard input"* ]] || fail "a closed standard input: code $code: $(<err)"

# A language and a set whose names are escape sequences.
"$RNNSEARCH" prepare --train-source text/train.source --train-target text/train.target --tokenizer none \
  --source-language $'\e]0;title\a' --target-language $'\u009b31m' --test $'t\e[31m:text/test.source:text/test.target' \
  --output escapes.h5 >prepared 2>&1
"$RNNSEARCH" inspect escapes.h5 >shown
for answer in prepared shown; do
  LC_ALL=C grep -q $'[\e\a]\|\xc2\x9b' $answer && fail "a terminal would obey this: $(cat -v $answer)"
done
for name in 't\\x1b\[31m' '\\x1b\]0;title\\x07'; do
  grep -q "$name" shown || fail "'$name' is not shown: $(cat -v shown)"
done

# Another ICU, simulated by its function of the version: commands that load the model warn once, whatever the number of ranks.
"$RNNSEARCH" prepare --train-source text/train.source --train-target text/train.target --dev-source text/dev.source \
  --dev-target text/dev.target --tokenizer icu-words --overwrite --output corpus.h5 >out 2>&1
on 1 icu 2
function=$(nm -D "$RNNSEARCH" | sed -n 's/.* \(u_getVersion[_0-9]*\).*/\1/p')
[[ -n $function ]] || fail "the program does not ask ICU for its version"
echo "void $function(unsigned char* version) { version[0] = 50, version[1] = 1, version[2] = version[3] = 0; }" >icu.c
cc -shared -fPIC -o icu.so icu.c
for launcher in "" "$MPIEXEC -n 2"; do
  $launcher "$RNNSEARCH" translate --model icu --input text/test.source --threads 1 >out 2>err
  ! grep -q 'was split into words with' err || fail "a warning without a reason: $(<err)"
  $launcher env LD_PRELOAD="$PWD/icu.so" "$RNNSEARCH" translate --model icu --input text/test.source --threads 1 >again 2>err
  [[ $(grep -c 'was split into words with ICU [0-9.]*, and this program has ICU 50.1: new text may be split otherwise' err) == 1 ]] ||
    fail "'$launcher' with another ICU: $(<err)"
  cmp out again || fail "the simulated ICU splits otherwise"
done
