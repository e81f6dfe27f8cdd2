#!/usr/bin/env bash
# data/primes.pl: the target is the primes of the reversed source, lengths and numbers are drawn uniformly (or lengths
# grow), the same arguments give the same bytes, and wrong arguments are rejected.
set -euo pipefail
primes=$SOURCE/data/primes.pl
source "$SOURCE/tests/support/shell.sh"

"$primes" first 20000 40 1
"$primes" second 20000 40 1
{ cmp first.source second.source && cmp first.target second.target; } || fail "the same arguments gave other bytes"
"$primes" other 20000 40 2
! cmp -s first.source other.source || fail "another seed gave the same bytes"
[[ -z $(grep -E '( [0-9]+){4}' first.source | sort -u | comm -12 - <(sort -u other.source)) ]] ||
  fail "two seeds share a sequence of five numbers or more"

# Each bound is more than six standard deviations away.
paste first.source first.target | awk -F '\t' '
  BEGIN { split("2 3 5 7 11 13 17 19 23 29 31 37 41 43 47 53 59 61 67 71 73 79 83 89 97", list, " "); for (i in list) prime[list[i]] }
  {
    n = split($1, source, " ")
    if (n < 1 || n > 40) { print "line " NR ": " n " numbers"; exit bad = 1 }
    expected = ""
    for (i = n; i >= 1; --i) {
      if (source[i] !~ /^[0-9]+$/ || source[i] < 1 || source[i] > 100) { print "line " NR ": " source[i]; exit bad = 1 }
      ++number[source[i]]; ++numbers
      if (source[i] in prime) expected = expected (expected == "" ? "" : " ") source[i]
    }
    if ($2 != expected) { print "line " NR ": " $2 " and not " expected; exit bad = 1 }
    ++length_[n]
    if (expected == "") ++without
  }
  END {
    if (bad) exit 1
    if (NR != 20000) { print NR " pairs"; exit 1 }
    for (n = 1; n <= 40; ++n) if (length_[n] < 360 || length_[n] > 640) { print length_[n] " sequences of " n; exit 1 }
    for (i = 1; i <= 100; ++i) if (number[i] < 0.0088 * numbers || number[i] > 0.0112 * numbers) { print number[i] " times " i; exit 1 }
    expected = 3 / 40 * (1 - 0.75 ^ 40)
    if (without < (expected - 0.012) * NR || without > (expected + 0.012) * NR) { print without " sequences without primes"; exit 1 }
  }' || fail "the task is not as it should be"

# A curriculum. Of 20,000 pairs the first 200 have up to 8 numbers, those at 38% up to 20, the last 1,000 up to 100. Somewhat more than a
# quarter of the latter have more than 50 numbers: half of the lengths are uniform, half have a uniform logarithm.
"$primes" growing 20000 100 1 growing
longest() { sed -n "$1,$2p" growing.source | awk 'NF > most { most = NF } END { print most }'; } # FIRST LAST
[[ $(longest 1 200) == 8 && $(longest 7601 7650) == 20 && $(longest 19001 20000) == 100 ]] ||
  fail "the lengths do not grow from 8 to 20 and to 100: $(longest 1 200), $(longest 7601 7650), $(longest 19001 20000)"
long=$(sed -n '19001,20000p' growing.source | awk 'NF > 50' | wc -l)
((long > 240 && long < 420)) || fail "$long of the last 1,000 sequences have more than 50 numbers, expected some 325"

refused 1 "usage" "$primes" first 10
refused 1 "PAIRS is 'many'" "$primes" x many 10 1
refused 1 "MAX_LENGTH is '0'" "$primes" x 10 0 1
refused 1 "lengths are 'odd'" "$primes" x 10 10 1 odd
refused 1 "cannot write" "$primes" no/such/folder/x 10 10 1
