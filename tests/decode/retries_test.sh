#!/usr/bin/env bash
# Lines of which no hypothesis ends are searched again, with the same result on any number of ranks, and translate reports their number.
# The model reverses its source, and the limit of half the length is too short for that: only a wide beam finds an end.
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
"$RNNSEARCH" $(train_arguments run 60) 2>/dev/null
for _ in 1 2 3; do cat text/dev.source; echo; done >source

# translated NAME RANKS OPTIONS...: writes the translations to NAME and the report of retries to NAME.said
translated() {
  local name=$1 launcher=()
  (($2 == 1)) || launcher=("$MPIEXEC" -n "$2")
  "${launcher[@]}" "$RNNSEARCH" translate --model run --input source --output "$name" --minimum-length-ratio 0 \
    --maximum-length-ratio 0.5 --threads 1 "${@:3}" 2>err || fail "$name: $(<err)"
  grep '^\[translate\] .*\(ended\|cut off\)' err >"$name.said" || true
}

lines=$(wc -l <source)
for search in "--beam 1" "--beam 2 --n-best 2"; do
  translated one 1 $search
  translated two 2 $search
  cmp one two || fail "$search: one rank and two differ"
  cmp one.said two.said || fail "$search: one rank says $(<one.said), two say $(<two.said)"
  translated never 1 $search --retry-below 0
  [[ $(<never.said) == *" cut off at the maximum length, because no hypothesis ended and --retry-below is 0" ]] ||
    fail "$search --retry-below 0: $(<never.said)"
  ! cmp -s one never || fail "$search: the retries changed nothing"
  retried=$(sed -n 's/.*no hypothesis of \([0-9]*\) lines\{0,1\} ended in the first search, but in a later one.*/\1/p' one.said)
  ((retried > 0 && retried <= lines)) || fail "$search: $(<one.said)"
done

