#!/usr/bin/env bash
# When a rank never starts, the others report it and end.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
# Hydra returns the code of the rank that gives up, or the signal with which it kills the other process.
wanted='^1$'
[[ $MPIEXEC == mpirun ]] || wanted='^[1-9]'
seconds=$SECONDS
RNNSEARCH_START_TIMEOUT=2 code_of timeout -k 5 400 "$MPIEXEC" -n 2 "$RNNSEARCH" benchmark : -n 1 sleep 1000 2>errors
if [[ ! $code =~ $wanted ]] || ((SECONDS - seconds > 200)) ||
  ! grep -q "^\[comm\] rank [01] on [^ ]* has waited in MPI_Init for 2 s: another rank is stopped, gone" errors; then
  fail "rank 2 does not start; expected exit code $wanted soon, found code $code after $((SECONDS - seconds)) s: $(<errors)"
fi
RNNSEARCH_START_TIMEOUT=soon code_of "$MPIEXEC" -n 1 "$RNNSEARCH" benchmark 2>errors
{ [[ $code == 2 ]] && grep -q "RNNSEARCH_START_TIMEOUT is 'soon', expected seconds" errors; } ||
  fail "a timeout of 'soon' should be refused, found code $code: $(<errors)"
