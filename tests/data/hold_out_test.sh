#!/usr/bin/env bash
# data/hold_out.pl: sets are stratified by length, the same for any order of the text, and not in train; wrong input is rejected.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
# 300 pairs of each of the seven lengths, and a few of one length only; every tenth source occurs twice
perl -e 'for my $i (1 .. 300) { for my $l (0 .. 6) {
  my $s = join " ", map { "w$i" . "x" . ($l * 10 + $_) } 1 .. $l * 10 + 1 + $i % 10;
  print "$s\tz $s\n"; print "$s\tother $i $l\n" if $i % 10 == 0 } }' >both
cut -f1 both >t.en
cut -f2 both >t.fr
"$SOURCE/data/hold_out.pl" t.en t.fr en fr out test=20 dev=5 >said || fail "$(<said)"
lengths() { awk '{b = int((NF - 1) / 10); if (b > 6) b = 6; ++n[b]} END {for (b = 0; b <= 6; ++b) printf "%d ", n[b]}' "$1"; }
[[ $(lengths out/test.en) == "20 20 20 20 20 20 20 " ]] || fail "test: $(lengths out/test.en)"
[[ $(lengths out/dev.en) == "5 5 5 5 5 5 5 " ]] || fail "dev: $(lengths out/dev.en)"
for set in test dev train; do
  paste out/$set.en out/$set.fr >$set.both
  [[ -z $(sort $set.both | comm -13 <(sort both) -) ]] || fail "$set holds pairs that are not in the text"
done
sort -u out/test.en out/dev.en >held
[[ -z $(sort out/train.en | comm -12 - held) ]] || fail "a source of test or dev is in train"
left=$(($(wc -l <both) - $(cat test.both dev.both train.both | wc -l)))
grep -qx "left out, because a side of them is held out: $left" said || fail "$left are left out: $(<said)"
((left > 0)) || fail "nothing was left out, so this test shows less than it says"

# The order of the text changes only the order of the sets; of a rare length train keeps two thirds.
shuf --random-source=both both >shuffled
cut -f1 shuffled >u.en
cut -f2 shuffled >u.fr
"$SOURCE/data/hold_out.pl" u.en u.fr en fr other test=20 dev=5 >/dev/null
cmp <(sort out/test.en) <(sort other/test.en) || fail "another order of the text held out other pairs"
head -30 t.en >few.en
head -30 t.fr >few.fr
"$SOURCE/data/hold_out.pl" few.en few.fr en fr few test=20 >/dev/null
[[ $(wc -l <few/test.en) -ge 7 && $(wc -l <few/test.en) -le 10 ]] || fail "of 30 pairs $(wc -l <few/test.en) were held out"
# Train keeps most of a text that repeats the same pairs.
for _ in 1 2 3 4; do cat few.en; done >again.en
for _ in 1 2 3 4; do cat few.fr; done >again.fr
"$SOURCE/data/hold_out.pl" again.en again.fr en fr again test=20 >/dev/null
cmp <(sort few/test.en) <(sort again/test.en) || fail "repeated pairs were counted more than once"

refused 1 "usage: hold_out.pl" "$SOURCE/data/hold_out.pl" t.en t.fr en fr out
refused 1 "is not NAME=N" "$SOURCE/data/hold_out.pl" t.en t.fr en fr out test=0
refused 1 "cannot be named train" "$SOURCE/data/hold_out.pl" t.en t.fr en fr out train=5
refused 1 "cannot read none.en" "$SOURCE/data/hold_out.pl" none.en t.fr en fr out test=5
head -7 t.fr >short.fr
refused 1 "different numbers of lines" "$SOURCE/data/hold_out.pl" t.en short.fr en fr refused test=5
head -2 t.en >two.en
head -2 t.fr >two.fr
refused 1 "too few pairs" "$SOURCE/data/hold_out.pl" two.en two.fr en fr refused test=5
[[ ! -e refused/test.en ]] || fail "a refused text left files"
