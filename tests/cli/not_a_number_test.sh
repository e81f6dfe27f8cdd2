#!/usr/bin/env bash
# A model that diverged has finite weights and computes NaN. Every command that computes with it prints a one-line error that names the
# line, exits with 1 and writes nothing; a training validates it, continues, and gives up with a one-line error.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
diverge() {  # RUN UPDATES VALIDATE_EVERY LEARNING_RATE ARGUMENTS...
  "$RNNSEARCH" train --corpus corpus.h5 --run "$1" --max-updates "$2" --validate-every "$3" --embedding 8 --state 8 --alignment 8 \
    --maxout 8 --optimizer sgd --learning-rate "$4" --clip-norm 0 --checkpoint-minutes 0 --threads 1 "${@:5}"
}
diverge diverged 1 0 1e25 2>/dev/null
checkpoint=$(last_checkpoint diverged)

# every RANKS FACT ARGUMENTS...: refused on each of these numbers of ranks
every() {
  local ranks launcher
  for ranks in $1; do
    launcher=()
    ((ranks == 1)) || launcher=("$MPIEXEC" -n 2)
    refused 1 "rnnsearch $3: |$2" "${launcher[@]}" "$RNNSEARCH" "${@:3}" --threads 1
  done
}
model=(--model "$checkpoint")
{ echo; cat text/test.source; } >source # the first line has no words, so nothing is computed for it
{ echo; cat text/test.target; } >target
# The first line stays in output.partial.
code_of "$RNNSEARCH" translate "${model[@]}" --input source --beam 1 --batch-sentences 1 --output output 2>err
[[ $code == 1 && ! -e output ]] || fail "a translation that broke off: code $code"
grep -q "source, line 2: the model computes NaN" err || fail "a translation that broke off: $(<err)"
every "1 2" "source, line 2: the model computes NaN" translate "${model[@]}" --input source --beam 3 --n-best 3
every 1 "corpus.h5 (dev), line 1: the model computes NaN" evaluate "${model[@]}" --corpus corpus.h5 --set dev
every "1 2" "text/test.source, line 1: the model computes NaN" align "${model[@]}" --source text/test.source --pharaoh -
every 2 "text/test.source, line 1: the model computes NaN" score "${model[@]}" --source text/test.source --target text/test.target
every 1 "text/test.source, line 1: the model computes NaN" score "${model[@]}" --source text/test.source --target text/test.target --json -
awk '{print NR - 1 " ||| " $0 " ||| F= 1 ||| 1"}' text/test.target >list
every 1 "list, line 1: the model computes NaN" rescore "${model[@]}" --list list --source text/test.source
untrained=(--embedding 8 --state 8 --alignment 8 --maxout 8 --source-words 50 --target-words 50 --source-length 4 --target-length 4
  --initialization gaussian --initial-deviation 1e25)
every 1 "the gradient of update 1 is not finite" benchmark "${untrained[@]}"
every "1 2" "the untrained model computes NaN" benchmark "${untrained[@]}" --decode

# Numbers of thirty digits are valid: each is on its line.
diverge huge 1 0 1e14 2>/dev/null
scores=$("$RNNSEARCH" score --model huge --source text/test.source --target text/test.target 2>/dev/null)
grep -qE '^-[0-9]{26,}\.[0-9]{6}$' <<<"$scores" || fail "the scores are not as large as was meant: $scores"
[[ $(wc -l <<<"$scores") == 16 ]] || fail "16 pairs have other than 16 lines of scores: $scores"

# In training no metric of the dev set is a number, no checkpoint is the best, and training gives up after enough skipped updates.
for metric in loss bleu ter; do
  code_of diverge $metric 40 2 1e25 --best-metric $metric --max-skipped 5 2>err
  [[ $code == 1 && $(grep -c '^rnnsearch ' err) == 1 ]] || fail "train, best by $metric: code $code: $(<err)"
  [[ $(tail -n 1 err) == *"5 updates in a row were not finite, up to update 6; there is no earlier checkpoint, so start again with"* ]] || fail "train, best by $metric: $(<err)"
  [[ $(grep -c '^\[train\] update [246]: .*NaN.*' err) == 2 ]] || fail "the validations at updates 2 and 4 do not tell of NaN: $(<err)"
  [[ $(grep -c '"event":"validation".*"loss_per_word":null,"bleu":null,"chrf":null,"ter":null,"best":false' $metric/log.jsonl) == 2 ]] ||
    fail "log.jsonl takes NaN for a score: $(grep validation $metric/log.jsonl)"
  kept=$(find $metric/checkpoints $metric/validation -type f 2>/dev/null) || true
  [[ -z $kept ]] || fail "a model that computes NaN was kept: $kept"
done
