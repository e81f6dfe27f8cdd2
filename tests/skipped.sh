#!/usr/bin/env bash
# tests/skipped.sh FOLDER: names the tests that the last run of ctest in this build folder skipped, with their reasons: entries of
# ctest, and GoogleTest cases in entries that passed. Exits with 1 if $CI is true and one of them is not in tests/may_skip.txt.
set -euo pipefail
list=$(dirname -- "${BASH_SOURCE[0]}")/may_skip.txt
log=${1:?the build folder}/Testing/Temporary

skipped() { # prints NAME<tab>REASON for each
  local entries=$log/LastTestsDisabled.log
  [[ -e $entries ]] || entries=/dev/null # ctest writes it only when it has skipped an entry
  perl -e '
    my ($entries, $log) = @ARGV;
    open my $in, "<", $entries or die "$entries: $!";
    my %entry = map { /:(.*)/ ? ($1 => "gives no reason") : () } <$in>;
    open $in, "<", $log or die "skipped.sh: $log: $!; run ctest first\n";
    my ($name, %case) = "";
    while (<$in>) {
      if (m{^\d+/\d+ Testing: (.*)}) { $name = $1 }
      elsif (exists $entry{$name} && /^skipped: (.*)/i) { $entry{$name} = $1 }
      elsif (/^\[  SKIPPED \] (\w[\w\/]*\.[\w\/]+)/) { $case{$1} = "a case of the entry $name" }
    }
    print s/_test$//r, "\t$entry{$_}\n" for sort keys %entry;
    print "$_\t$case{$_}\n" for sort keys %case;' "$entries" "$log/LastTest.log"
}
found=$(skipped)
[[ -n $found ]] || exit 0
unexpected=0
while IFS=$'\t' read -r name reason; do
  if grep -qE "^$name( |$)" "$list"; then
    echo "[skipped] $name: $reason"
  else
    echo "[skipped] $name: $reason; it is not in tests/may_skip.txt"
    unexpected=$((unexpected + 1))
  fi
done <<<"$found"
[[ ${CI:-} == true && $unexpected != 0 ]] || exit 0
echo "skipped.sh: tests/may_skip.txt does not name $unexpected of the tests that were skipped: make them run, or add them with a reason" >&2
exit 1
