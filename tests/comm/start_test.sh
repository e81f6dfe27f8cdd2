#!/usr/bin/env bash
# When a rank never starts, the others report it and end.
set -euo pipefail
: "${MPIEXEC:=mpirun}" # the launcher
# Hydra returns the code of the rank that gives up, or the signal with which it kills the other process.
wanted='^1$'
[[ $MPIEXEC == mpirun ]] || wanted='^[1-9]'
seconds=$SECONDS
code=0
RNNSEARCH_START_TIMEOUT=2 timeout -k 5 400 "$MPIEXEC" -n 2 "$RNNSEARCH" benchmark : -n 1 sleep 1000 2>errors || code=$?
if [[ ! $code =~ $wanted ]] || ((SECONDS - seconds > 200)) ||
  ! grep -q "^\[comm\] rank [01] on [^ ]* has waited in MPI_Init for 2 s: another rank is stopped, gone" errors; then
  echo "rank 2 does not start; expected exit code $wanted soon, found code $code after $((SECONDS - seconds)) s" >&2
  cat errors >&2
  exit 1
fi
code=0
RNNSEARCH_START_TIMEOUT=soon "$MPIEXEC" -n 1 "$RNNSEARCH" benchmark 2>errors || code=$?
{ [[ $code == 2 ]] && grep -q "RNNSEARCH_START_TIMEOUT is 'soon', expected seconds" errors; } || {
  echo "a timeout of 'soon' should be refused, found code $code: $(<errors)" >&2
  exit 1
}
