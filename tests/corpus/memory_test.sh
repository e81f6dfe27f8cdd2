#!/bin/bash
# Memory during `prepare` and `train` does not grow with the corpus: a text ten times as long, of the same words, takes no
# more.
set -euo pipefail
[ -x "$RNNSEARCH" ] || exit 77

# text PAIRS NAME: lines of 3 to 22 words out of 5,000
text() {
  awk -v pairs="$1" -v name="$2" 'BEGIN {
    srand(1)
    for (i = 0; i < pairs; ++i) {
      line = ""
      for (k = 3 + int(rand() * 20); k > 0; --k) line = line "w" int(rand() * 5000) " "
      print line "." > (name ".src")
      print line "!" > (name ".tgt")
    }
  }'
}

# peak COMMAND...: the highest VmHWM of the command, in KiB
peak() {
  "$@" > log 2>&1 &
  local process=$! highest=0 now
  while now=$(awk '/^VmHWM/ { print $2 }' "/proc/$process/status" 2> /dev/null) && [ -n "$now" ]; do
    highest=$((now > highest ? now : highest))
    sleep 0.02
  done
  wait "$process" || { cat log >&2; exit 1; }
  echo "$highest"
}
prepare() { # exec: the process that is watched is the program
  exec "$RNNSEARCH" prepare --train-source "$1.src" --train-target "$1.tgt" --dev-source dev.src --dev-target dev.tgt \
    --test "held:dev.src:dev.tgt" --output "$1.h5" --tokenizer words --lowercase
}
train() {
  exec "$RNNSEARCH" train --corpus "$1.h5" --run "$1.run" --embedding 8 --state 8 --alignment 8 --maxout 8 --threads 1 \
    --max-updates 20 --validate-every 0
}

text 500 dev
text 70000 small # more than a window of the batch sequence, so that training has its fill of either
text 700000 large
for command in prepare train; do
  small=$(peak $command small)
  large=$(peak $command large)
  echo "peak memory of $command: $small KiB for 70,000 pairs, $large KiB for 700,000"
  [ "$small" -gt 1000 ] || { echo "the peak was not seen"; exit 1; }
  [ "$large" -lt $((small + 8192)) ] || { echo "memory grows with the corpus"; exit 1; }
done
[ "$(stat -c %s large.h5)" -gt $((5 * $(stat -c %s small.h5))) ] || { echo "the larger corpus is not there"; exit 1; }
