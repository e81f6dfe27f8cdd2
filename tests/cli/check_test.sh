#!/usr/bin/env bash
# `--check` says what is wrong with a command, with the exit code that the command would have, and writes nothing.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
printf '%s\n' 'a b' 'b c' 'c a' >text
"$RNNSEARCH" prepare --train-source text --train-target text --dev-source text --dev-target text --output c.h5 >/dev/null
printf '%s\n' 'corpus = c.h5' 'embedding = 4' 'state = 4' 'alignment = 4' 'maxout = 4' 'threads = 1' 'batch-sentences = 3' >small.ini
"$RNNSEARCH" train --config small.ini --run former --max-updates 2 --precision f32 2>/dev/null
echo 'stat = 3' >typo.ini
cp -r former torn && echo foo >>torn/config.ini
state() { find . -type f -not -name said -exec md5sum {} + | sort && find . | sort; }
touch said
state >../before

# checks CODE TEXT COMMAND...
checks() {
  local code=$1 text=$2 found=0
  shift 2
  env "${environment[@]}" "${launch[@]}" "$RNNSEARCH" "$@" --check >said 2>&1 || found=$?
  { [[ $found == "$code" && $(<said) == *"$text"* ]]; } || fail "$* --check: exit code $found, not $code: $(<said)"
  [[ $code == 0 || $(wc -l <said) == 1 ]] || fail "$* --check says more than a sentence: $(<said)"
  state | diff ../before - || fail "$* --check writes"
}
environment=(RNNSEARCH_END_TIME=0) launch=()
train=(train --config small.ini --run)
checks 0 "from update 0 on" "${train[@]}" new
checks 0 "from update 2 on" "${train[@]}" former
checks 0 "from update 0 on" "${train[@]}" new --threads 4096 --initial-model former
checks 2 "unknown key 'stat'" train --config typo.ini --run new
checks 2 "--state is '0'" "${train[@]}" new --state 0
checks 2 "guided-alignment = 1 with attention = none" "${train[@]}" new --attention none --guided-alignment 1
checks 2 "reproducible-shards = 3 on 2 ranks" "${train[@]}" new --reproducible-shards 3 --check-ranks 2
checks 2 "stall-timeout is '0.5'" "${train[@]}" new --stall-timeout 0.5
checks 1 "computed in f32 so far and would go on in bf16" "${train[@]}" former --precision bf16
checks 1 "text is not a folder that you may write to" "${train[@]}" text/new
checks 1 "cannot open" "${train[@]}" new --corpus none.h5
checks 1 "cannot open" "${train[@]}" new --initial-model none
checks 1 "holds another run" "${train[@]}" former --state 5
checks 1 "is not a run" "${train[@]}" .
checks 1 "torn/config.ini: 'foo' is not of the form 'key = value'; restore" "${train[@]}" torn
environment=(RNNSEARCH_END_TIME=soon)
checks 2 "RNNSEARCH_END_TIME is 'soon'" "${train[@]}" new
environment=(RNNSEARCH_END_TIME="$(($(date +%s) + 60))")
checks 1 "no time is left to train" "${train[@]}" new --stop-before 5
environment=()
checks 1 "none" prepare --train-source none --train-target text --output new.h5
checks 1 "max-length is 1 here" prepare --train-source text --train-target text --dev-source text --dev-target text --max-length 1 --output c.h5
checks 2 "so the tokenizer words cannot come before it" prepare --train-source text --train-target text --subwords bpe \
  --tokenizer words --output new.h5
checks 0 "" prepare --train-source text --train-target text --output new.h5
checks 2 "--beam is '0'" translate --model former --beam 0
checks 0 "" translate --model none
launch=("$MPIEXEC" -n 2)
checks 0 "from update 0 on" "${train[@]}" new --reproducible-shards 3 --check-ranks 3
rm ../before
! "$RNNSEARCH" "${train[@]}" new --check-ranks 2 2>said || fail "--check-ranks without --check"
[[ $(<said) == *"--check-ranks belongs to --check"* ]] || fail "$(<said)"
