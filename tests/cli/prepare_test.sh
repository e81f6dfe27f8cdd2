#!/usr/bin/env bash
# prepare under mpirun writes the same corpus as one process, and an error is printed once, in one line, for all ranks.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"

perl -e 'srand 2; for my $i (1 .. 20000) { my @n = map { int rand 300 } 1 .. 1 + $i % 40;
  print "@n\t", join(" ", map { 2 * $_ } reverse @n), "\n" }' >both
cut -f1 both >source
cut -f2 both | gzip >target.gz
head -n 50 source >dev.source
gzip -dc target.gz | sed -n 1,50p >dev.target
options=(--train-source source --train-target target.gz --train-tsv both --dev-source dev.source --dev-target dev.target
  --drop-repeated --max-length 30)
"$RNNSEARCH" prepare "${options[@]}" --output one.h5 --threads 1 >one
timeout 400 "$MPIEXEC" -n 3 "$RNNSEARCH" prepare "${options[@]}" --output several.h5 --threads 1 >several 2>err ||
  fail "3 ranks: $(<err)"
cmp one.h5 several.h5 || fail "3 ranks write another corpus"
cmp <(sed 's/one.h5/several.h5/' one) several || fail "3 ranks report something else: $(<several)"
[[ $(grep -c 'rank 0 prepares the corpus, and the other ranks wait' err) == 1 ]] || fail "3 ranks say: $(<err)"

# A colon in a file's name is written \:, as colons stand between the files.
cp dev.source "a: b"
"$RNNSEARCH" prepare --vocabulary-of one.h5 --train-tsv both --test 't:a\: b:dev.target' --output colon.h5 >/dev/null
"$RNNSEARCH" prepare --vocabulary-of one.h5 --train-tsv both --test t:dev.source:dev.target --output plain.h5 >/dev/null
cmp colon.h5 plain.h5 || fail "a test set whose source has a colon in its name is another one"

several() { refused 1 "$1" "$MPIEXEC" -n 3 "$RNNSEARCH" prepare "${@:2}" --output none.h5; } # FACTS OPTIONS...
LC_ALL=C sed '17000s/^/\xff/' source >bad # in the last unit
several "bad, line 17000|UTF-8" --train-source bad --train-target target.gz --threads 1
several "source has 20000 lines|dev.target has 50" --train-source source --train-target dev.target
several "source-words|distinct" "${options[@]}" --source-words 4000 --threads 1
