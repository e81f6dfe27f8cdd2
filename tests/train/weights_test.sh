#!/usr/bin/env bash
# --train-weights: weights of 1 give the bits of no weights, a pair of weight 0 has no effect, and losses are not weighted. Weighted trainings
# are the same on one rank and two with reproducible shards, after a resume, too; with other weights a run is not resumed.
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
prepare() { # NAME [TARGET]: from the file NAME.weights
  "$RNNSEARCH" prepare --train-source text/train.source --train-target "${2:-text/train.target}" --train-weights "$1.weights" \
    --dev-source text/dev.source --dev-target text/dev.target --vocabulary-of corpus.h5 --output "$1.h5" >/dev/null
}
# train RUN CORPUS UPDATES [OPTION...]: on so many ranks
ranks=1
train() {
  local launcher=("$MPIEXEC" -n "$ranks")
  ((ranks > 1)) || launcher=()
  "${launcher[@]}" "$RNNSEARCH" $(train_arguments "$1" "$3" | sed "s/corpus.h5/$2.h5/") "${@:4}" 2>"$1.log" || fail "$1: $(<"$1.log")"
}
same() { # RUN RUN [OPTION...]: parameters and optimiser; the states name two corpora
  h5diff -q "${@:3}" "$(last_checkpoint "$1")" "$(last_checkpoint "$2")" /parameters /parameters &&
    h5diff -q "${@:3}" "$(last_checkpoint "$1")" "$(last_checkpoint "$2")" /optimizer /optimizer
}
close() { same "$@" -d 2e-3; } # but for rounding, whose order depends on the words of a batch
figures() { grep -E '"event":"(update|validation)"' "$1/log.jsonl" | grep -oE '"(loss_per_word|bleu|gradient_norm)":[^,}]*'; }

sed 's/.*/1/' text/train.source >ones.weights
awk '{ print NR % 3 / 2 }' text/train.source >some.weights
awk 'NR % 3 == 0 { gsub(/[0-9]+/, "3") } 1' text/train.target >other.target # of the pairs of weight 0
cp some.weights other.weights
prepare ones
prepare some
prepare other other.target
"$RNNSEARCH" inspect some.h5 | grep -q '^weights  *true$' || fail "inspect does not say that there are weights"

train plain corpus 14
train ones ones 14
same plain ones || fail "weights of 1 change the bits"
diff <(figures plain) <(figures ones) || fail "weights of 1 change the log"
train some some 14
! close plain some || fail "weights have no effect"
[[ $(figures some | grep -m1 loss) == "$(figures plain | grep -m1 loss)" ]] || fail "the reported loss is weighted"
train other other 14
! cmp -s text/train.target other.target || fail "the targets are the same"
close some other || fail "a pair of weight 0 has an effect"

shards="--reproducible-shards 4 --dropout 0.2"
train one some 14 $shards
ranks=2 train two some 7 $shards
train two some 14 $shards
expect_equal one two
refused 1 "another corpus" "$RNNSEARCH" $(train_arguments some 21 | sed 's/corpus.h5/ones.h5/')

# In a mixture the pairs keep their weights.
train mixed corpus 14 --mix some.h5:1
train mixed-other corpus 14 --mix other.h5:1
train mixed-ones corpus 14 --mix ones.h5:1
close mixed mixed-other || fail "a pair of weight 0 has an effect in a mixture"
! close mixed mixed-ones || fail "weights have no effect in a mixture"
