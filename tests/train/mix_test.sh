#!/usr/bin/env bash
# --mix: a training on two corpora is the same on any number of ranks, a resumed one has the bits of an undisturbed one, and a run is not
# resumed with another mixture. Corpora that do not fit together are refused.
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
tail -n 100 text/train.source >some.source
tail -n 100 text/train.target >some.target
"$RNNSEARCH" prepare --train-source some.source --train-target some.target --vocabulary-of corpus.h5 --output some.h5 >/dev/null
arguments() { train_arguments "$1" "$2" | sed 's/--batch-sentences 12/--batch-sentences 36 --reproducible-shards 6/'; }
on 1 whole 30 --mix some.h5:0.5 # an epoch has 900 pairs: 25 updates
grep -q 'an epoch has 300 pairs of .*some.h5, which has 100$' whole.log || fail "the training does not say what it mixes: $(<whole.log)"
grep -q "^mix = $PWD/some.h5:0.5\$" whole/config.ini || fail "config.ini does not record the mixture"
epoch=$(sed -n 's/.*"event":"update","update":25,.*"epoch":\([0-9]*\),.*/\1/p' whole/log.jsonl)
[[ $epoch == 1 ]] || fail "an epoch does not have 25 updates"
on 2 parts 13 --mix some.h5:0.5
on 3 parts 30 --mix some.h5:0.5
expect_equal parts whole
on 1 plain 30
! h5diff -q "$(last_checkpoint plain)" "$(last_checkpoint whole)" /parameters /parameters || fail "the mixture has no effect"

refused 1 "another corpus|with the same --mix" "$RNNSEARCH" $(arguments whole 35) --mix some.h5:0.25
"$RNNSEARCH" prepare --train-source some.source --train-target some.target --tokenizer none --output other.h5 --source-words 9 >/dev/null
refused 1 "other.h5 cannot be mixed into $PWD/corpus.h5: |--vocabulary-of" "$RNNSEARCH" $(arguments other 35) --mix other.h5:1
