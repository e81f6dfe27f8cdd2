#!/usr/bin/env bash
# The same training gives the same bits with two MPI libraries, and a run of one is resumed by the other: gradients and all other
# floating-point numbers are added in an order of our own.
# shellcheck disable=SC2046,SC2086  # what train_arguments prints is split into the arguments of a command
set -euo pipefail
other=$(dirname "$RNNSEARCH")/other_mpi/rnnsearch
[[ -x $other && -n ${OTHER_MPIEXEC:-} ]] || { echo "skipped: there is no second MPI (Debian: mpich, libmpich-dev)" >&2; exit 77; }
source "$SOURCE/tests/train/support.sh"
make_corpus
updates=77 checkpoints="--checkpoint-every 35"

library_of() { sed -n 's/.*"libraries": ".*HDF5 [^,]*, \([^,]*\),.*/\1/p' "$1/environment.json"; }
for ranks in 2 3; do
  mpirun -n $ranks "$RNNSEARCH" $(train_arguments one-$ranks $updates) $checkpoints 2>one.log || fail "$ranks ranks: $(<one.log)"
  "$OTHER_MPIEXEC" -n $ranks "$other" $(train_arguments two-$ranks $updates) $checkpoints 2>two.log || fail "$ranks ranks: $(<two.log)"
  expect_equal one-$ranks two-$ranks
done
[[ -n $(library_of one-3) && $(library_of one-3) != "$(library_of two-3)" ]] ||
  fail "both trainings used $(library_of one-3), so this shows nothing"

mpirun -n 3 "$RNNSEARCH" $(train_arguments both 35) $checkpoints 2>one.log || fail "the first half: $(<one.log)"
"$OTHER_MPIEXEC" -n 3 "$other" $(train_arguments both $updates) $checkpoints 2>two.log || fail "the second half: $(<two.log)"
grep -q 'resumes from' two.log || fail "the run was not resumed: $(<two.log)"
expect_equal both one-3

# What a user sets for the library's own sums changes nothing.
OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_allreduce_algorithm=2 \
  mpirun -n 3 "$RNNSEARCH" $(train_arguments tuned $updates) $checkpoints 2>one.log || fail "another algorithm of sums: $(<one.log)"
expect_equal tuned one-3
