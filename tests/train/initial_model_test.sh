#!/usr/bin/env bash
# --initial-model: a training on another corpus begins with the parameters of a run, says which words it took over, and resumes when that
# run is gone, with the same bits; a run that cannot begin so leaves no folder.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
on 1 general 60
"$SOURCE/data/reversal.sh" domain --vocabulary 14 --max-length 5 --train 200 --dev 16 --test 16 >/dev/null
"$RNNSEARCH" prepare --train-source domain/train.source --train-target domain/train.target --dev-source domain/dev.source \
  --dev-target domain/dev.target --tokenizer none --output domain.h5 >/dev/null

# the settings of the general run, another corpus and run
adapt() { # RUN UPDATES ARGUMENT...
  "$RNNSEARCH" train --config general/config.ini --corpus domain.h5 --run "$1" --max-updates "$2" --initial-model general "${@:3}"
}
first_loss() { sed -n 's/.*"event":"update","update":1,.*"loss_per_word":\([0-9.]*\),.*/\1/p' "$1/log.jsonl"; }

"$RNNSEARCH" train --config general/config.ini --corpus domain.h5 --run fresh --max-updates 1 2>err
! grep -q 'begins with' err || fail "it does not begin from nothing: $(<err)"
adapt adapted 1 2>err || fail "$(<err)"
for side in source target; do
  grep -q "^\[train\] $side vocabulary: 13 of 17 words are among the 13 of that model, 4 are initialized anew$" err ||
    fail "what was taken over of the $side: $(<err)"
done
grep -q '^\[train\] begins with the parameters of .*/general/checkpoints/update-000000[0-9]*.h5 (update [0-9]*) and a new optimizer state$' \
  err || fail "where it began: $(<err)"
! grep -q warning err || fail "a warning without a reason: $(<err)"
awk -v adapted="$(first_loss adapted)" -v fresh="$(first_loss fresh)" 'BEGIN {exit !(adapted > 0 && adapted < fresh)}' ||
  fail "the first loss is $(first_loss adapted) with the parameters of general and $(first_loss fresh) without"
grep -q '^initial-model = /.*/general$' adapted/config.ini || fail "config.ini does not say where it began: $(<adapted/config.ini)"

# The initial model is needed once.
adapt whole 12 --initial-optimizer 2>/dev/null
adapt resumed 5 --initial-optimizer 2>/dev/null
mv general moved
"$RNNSEARCH" train --config moved/config.ini --corpus domain.h5 --run resumed --max-updates 12 --initial-model general --initial-optimizer \
  2>err || fail "a run cannot go on without the model it began with: $(<err)"
expect_equal whole resumed
mv moved general

adapt=("$RNNSEARCH" train --config general/config.ini --corpus domain.h5 --run refused --max-updates 2 --initial-model)
refused 1 "has state = 24, and this training has state = 20; give the same value" "${adapt[@]}" general --state 20
refused 1 "nowhere" "${adapt[@]}" nowhere
