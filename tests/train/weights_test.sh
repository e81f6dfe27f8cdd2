#!/usr/bin/env bash
# --train-weights: weights of 1 give the bits of no weights, and a pair of weight 0 has no effect. (Losses, ranks and mixtures:
# tests/model/dropout_test.cpp, tests/train/update_mpi_test.cpp, tests/corpus/mixture_test.cpp.)
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
prepare() { # NAME [TARGET]: from the file NAME.weights
  "$RNNSEARCH" prepare --train-source text/train.source --train-target "${2:-text/train.target}" --train-weights "$1.weights" \
    --dev-source text/dev.source --dev-target text/dev.target --vocabulary-of corpus.h5 --output "$1.h5" >/dev/null
}
train() { # RUN CORPUS [OPTION...]
  "${launcher[@]}" "$RNNSEARCH" $(train_arguments "$1" 14 | sed "s/corpus.h5/$2.h5/") "${@:3}" 2>"$1.log" || fail "$1: $(<"$1.log")"
}
launcher=()
same() { # RUN RUN [OPTION...]: parameters and optimiser; the states name two corpora
  h5diff -q "${@:3}" "$(last_checkpoint "$1")" "$(last_checkpoint "$2")" /parameters /parameters &&
    h5diff -q "${@:3}" "$(last_checkpoint "$1")" "$(last_checkpoint "$2")" /optimizer /optimizer
}
close() { same "$@" -d 2e-3; } # but for rounding, whose order depends on the words of a batch

sed 's/.*/1/' text/train.source >ones.weights
awk '{ print NR % 3 / 2 }' text/train.source >some.weights
awk 'NR % 3 == 0 { gsub(/[0-9]+/, "3") } 1' text/train.target >other.target # of the pairs of weight 0
cp some.weights other.weights
prepare ones
prepare some
prepare other other.target
"$RNNSEARCH" inspect some.h5 | grep -q '^weights  *true$' || fail "inspect does not say that there are weights"

train plain corpus
train ones ones
same plain ones || fail "weights of 1 change the bits"
train some some
! close plain some || fail "weights have no effect"
train other other
! cmp -s text/train.target other.target || fail "the targets are the same"
close some other || fail "a pair of weight 0 has an effect"
train one some --reproducible-shards 4
launcher=("$MPIEXEC" -n 2)
train two some --reproducible-shards 4
expect_equal one two
