#!/usr/bin/env bash
# A rank that fails ends all ranks at once: the others must not wait for it until the job's time is over.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
program=$(dirname "$RNNSEARCH")/tests/comm_mpi_test
seconds=$SECONDS
code_of timeout 400 "$MPIEXEC" -n 3 "$program" --fail-on-one-rank 2>errors
# 1 is the code that Environment gives to MPI_Abort; rank 1 itself would have returned 3
if [[ $code != 1 ]] || ((SECONDS - seconds > 100)); then
  fail "rank 1 failed; expected exit code 1 at once, found code $code after $((SECONDS - seconds)) s: $(<errors)"
fi
