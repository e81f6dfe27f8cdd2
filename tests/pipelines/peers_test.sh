#!/usr/bin/env bash
# pipelines/benchmark/peers: both variants of the PyTorch program compute the same numbers, and the script prints a row of the table.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
peers=$SOURCE/pipelines/benchmark/peers
/usr/bin/python3 -c 'import torch' 2>/dev/null || { echo "skipped: PyTorch is not installed (pipelines/install.sh peers)" >&2; exit 77; }

/usr/bin/python3 "$peers/rnnsearch_torch.py" --check >said || fail "the variants differ: $(<said)"
"$peers/run.sh" --sizes small --precisions bf16 --threads 1 --rounds 1 -- --batch-sentences 3 --source-length 4 --target-length 5 \
  --updates 2 --untimed-updates 1 >table 2>log || fail "$(<log)"
number='[0-9.e-]+ \[[0-9.e-]+, [0-9.e-]+\]'
grep -qE "^\| [^|]+ \| [^|]+ \| [^|]+ \| small \| bf16 \| 1 \| $number \| $number \| $number \|$" table || fail "$(<table)"
