#!/usr/bin/env bash
# All commands at a small size: prepare, train on two ranks, stop and resume, translate, score, evaluate. The task is to reverse
# sequences of up to 6 of 8 words; pipelines/reversal has the full experiment.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
"$SOURCE/data/reversal.sh" text --vocabulary 8 --max-length 6 --train 4000 --dev 100 --test 200 >/dev/null
"$RNNSEARCH" prepare --train-source text/train.source --train-target text/train.target --tokenizer none \
  --dev-source text/dev.source --dev-target text/dev.target --test t:text/test.source:text/test.target \
  --output corpus.h5 --json - >prepare.json
grep -q '"pairs_kept": 4000' prepare.json || fail "prepare did not keep all pairs: $(<prepare.json)"

train() { "$MPIEXEC" -n 2 "$RNNSEARCH" train "${learns_reversal[@]}" --state 64 --corpus corpus.h5 --run run "$@" 2>>train.log; }
train --max-updates 200
train --max-updates 600
grep -q 'resumes from' train.log || fail "the second training did not resume from the first: $(<train.log)"

"$RNNSEARCH" translate --model run --input text/test.source --output one
"$MPIEXEC" -n 3 "$RNNSEARCH" translate --model run --threads 1 <text/test.source >three
cmp one three || fail "three ranks translate otherwise than one"
right=$(paste -d '\n' one text/test.target | awk 'NR % 2 { line = $0; next } line == $0' | wc -l)
((right >= 180)) || fail "only $right of 200 test sequences came out right: $(<train.log)"

"$RNNSEARCH" translate --model run --input text/test.source --n-best 3 --beam 4 --normalize >n-best
[[ $(grep -c '^7 ||| .* ||| -[0-9.]*$' n-best) == 3 ]] || fail "not three translations of line 7: $(grep '^7 ' n-best)"
[[ $(printf '1 2\n\n3\n' | "$RNNSEARCH" translate --model run | sed -n 2p) == "" ]] || fail "an empty line is not kept"

# the output of search is at least as probable as the reference, and both have a score on each line
"$RNNSEARCH" score --model run --source text/test.source --target one >found
"$RNNSEARCH" score --model run --source text/test.source --target text/test.target >expected
"$MPIEXEC" -n 3 "$RNNSEARCH" score --model run --source text/test.source --target text/test.target --batch-sentences 80 \
  --threads 1 | cmp - expected || fail "three ranks score otherwise than one"
paste found expected | awk '$1 < $2 - 1e-3 { ++worse } END { exit !(NR == 200 && worse <= 10) }' ||
  fail "search finds less probable translations than there are"

"$RNNSEARCH" evaluate --hypotheses search=one --model model=run --corpus corpus.h5 --set test/t --edges 3 --json - >bleu.json
[[ $(sed -n 2p bleu.json) == '  "format": "rnnsearch-evaluation",' ]] || fail "not an evaluation: $(<bleu.json)"
[[ $(grep -c '"system"' bleu.json) == 2 ]] || fail "not two systems: $(<bleu.json)"
"$RNNSEARCH" evaluate --hypotheses search=one --references text/test.target --edges 3 >table
grep -q '^all  *200 ' table || fail "the table has no row for all: $(<table)"

"$RNNSEARCH" inspect run --json - >checkpoint.json
grep -q '"system": "RNNsearch"' checkpoint.json || fail "inspect does not name the system"
"$RNNSEARCH" inspect corpus.h5 >corpus.txt
grep -q '^test/t  *[0-9]' corpus.txt || fail "inspect does not list the test set"
"$RNNSEARCH" train --config run/config.ini --run again --max-updates 1 2>>train.log || fail "config.ini does not repeat the run"
cmp <(grep -v '^max-updates' run/config.ini) <(grep -v '^max-updates' again/config.ini) || fail "config.ini changed"
