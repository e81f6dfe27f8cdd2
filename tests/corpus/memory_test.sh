#!/bin/bash
# The memory of `prepare` and `train` does not grow with the corpus: a text ten times as long, with the same words, needs no
# more.
set -euo pipefail
[ -x "$RNNSEARCH" ] || exit 77

# text PAIRS NAME: writes lines of 3 to 22 words from a list of 5,000
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

# peak COMMAND...: prints the peak resident memory of COMMAND in KiB, as reported by the kernel
peak() {
  perl -e 'require "syscall.ph"; open my $peak, ">&", *STDOUT; open STDOUT, ">&", *STDERR; system(@ARGV) == 0 or exit 1; my $usage = "\0" x 1024;
    syscall(&SYS_getrusage, -1, $usage) == 0 or die "getrusage: $!\n"; print $peak +(unpack "l!*", $usage)[4]' "$@" 2>log ||
    { cat log >&2; exit 1; }
}
prepare() {
  peak "$RNNSEARCH" prepare --train-source "$1.src" --train-target "$1.tgt" --dev-source dev.src --dev-target dev.tgt \
    --test "held:dev.src:dev.tgt" --output "$1.h5" --tokenizer words --lowercase
}
train() {
  peak "$RNNSEARCH" train --corpus "$1.h5" --run "$1.run" --embedding 8 --state 8 --alignment 8 --maxout 8 --threads 1 \
    --max-updates 200 --validate-every 0
}

text 500 dev
# Both texts fill several windows of the batch sequence, which have at most 65,536 pairs.
text 190000 small
text 1900000 large
# least OLD NEW: the smaller of two peaks, because a peak varies by some megabytes with the timing of threads
least() { [ -n "$1" ] && [ "$1" -lt "$2" ] && echo "$1" || echo "$2"; }
for command in prepare train; do
  small='' large=''
  for _ in 1 2 3 4 5; do
    rm -rf small.run large.run
    [ $command = train ] || rm -f small.h5 large.h5
    small=$(least "$small" "$($command small)")
    large=$(least "$large" "$($command large)")
    echo "peak memory of $command: $small KiB for 190,000 pairs, $large KiB for 1,900,000"
    [ "$large" -ge $((small + 8192)) ] || break
  done
  [ "$small" -gt 1000 ] || { echo "the peak was not seen"; exit 1; }
  [ "$large" -lt $((small + 8192)) ] || { echo "memory grows with the corpus"; exit 1; }
done
[ "$(stat -c %s large.h5)" -gt $((5 * $(stat -c %s small.h5))) ] || { echo "the larger corpus is not there"; exit 1; }
