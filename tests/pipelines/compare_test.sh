#!/usr/bin/env bash
# pipelines/benchmark/compare.pl with stubs in place of trainers: the order of the runs, what is read, the ratios, the errors.
set -euo pipefail
compare=$SOURCE/pipelines/benchmark/compare.pl
source "$SOURCE/tests/support/shell.sh"
{ command -v perl >/dev/null && perl -MJSON::PP -e1; } || { echo "skipped: perl has no JSON::PP" >&2; exit 77; }

# stub.sh NAME FORMAT NUMBER...: the i-th call with this name prints the i-th number, and is recorded in `calls`
cat >stub.sh <<'STUB'
echo "$1" >>calls
name=$1 format=$2
shift 2
i=$(grep -cx "$name" calls)
printf "$format\n" "${!i}"
STUB
ours="bash stub.sh ours '{\"seconds\": {\"median\": %s, \"minimum\": 0.001}}' 1.0 2.0 4.0"
json="echo 7; bash stub.sh json 'loss {3}\n{\"s_per_update\": {\"median\": 99}}\n{\"s_per_update\": {\"median\": %s}}\n{\"done\": 1}' 3.0 2.0 12.0"
text="bash stub.sh text 'floor 77 s/update, later floor %s s/update' 5e-1 1 .5"

: >calls
"$compare" --ours "$ours" --peer "$json" --peer "$text" --peer-pattern 'floor ([0-9.e-]+) s/update' --rounds 3 \
  >table 2>log || fail "$(<log)"
[[ $(paste -sd ' ' calls) == "ours json text ours json text ours json text" ]] || fail "order: $(paste -sd ' ' calls)"
# the median of 3/1, 2/2, 12/4 is 3, that of the medians would be 3/2
diff - <(sed -E '/^(ours|peer .):/d; s/average [0-9.]+ at the start, [0-9.]+ at/average X at the start, X at/;
  s/most [0-9.]+%/most X%/' table) <<'TABLE' ||
seconds per update      median     least      most   times ours, median [least, most]
ours                         2         1         4
peer 1                       3         2        12   3.000 [1.000, 3.000]
peer 2                     0.5       0.5         1   0.500 [0.125, 0.500]
3 rounds, load average X at the start, X at the end; at most X% of the processors taken away in a run
TABLE
  fail "the table is another one (expected on the left)"
grep -qxF "peer 1: $json" table || fail "a command is not named: $(<table)"
[[ $(grep -c '^\[compare\] round [123] of 3, ' log) == 9 ]] || fail "progress: $(<log)"

# JSON; an even number of rounds; an object over many lines, as rnnsearch prints it
: >calls
"$compare" --json --rounds 2 --ours "bash stub.sh ours '{\n \"seconds\": {\n \"median\": %s}\n}' 1 2" --peer "$json" >both.json 2>log ||
  fail "$(<log)"
found=$(perl -MJSON::PP -e 'local $/; my $r = decode_json(<STDIN>); my ($ours, $peer) = @{$r->{commands}};
  print join " ", $r->{rounds}, $ours->{name}, $ours->{seconds}{median}, "@{$ours->{seconds}{all}}", exists $ours->{ratio} ? 1 : 0,
    $peer->{name}, @{$peer->{ratio}}{qw(median minimum maximum)}, "@{$peer->{ratio}{all}}", $peer->{command} eq $ARGV[0] ? 1 : 0,
    scalar @{$r->{load_average_at_start}}, scalar @{$r->{load_average_at_end}}' "$json" <both.json)
[[ $found == "2 ours 1.5 1 2 0 peer 2 1 3 3 1 1 3 3" ]] || fail "JSON: $found: $(<both.json)"

# A run that lost more than the limit is repeated: here our first one, half of whose ticks were stolen.
: >calls
# user, nice, system, idle, iowait, irq, softirq, stolen
echo "cpu 0 0 0 0 0 0 0 0" >stat
counted="if [[ -e begun ]]; then echo 'cpu 200 0 0 0 0 0 0 101'; else echo 'cpu 100 0 0 0 0 0 0 100'; fi >stat; touch begun; $ours"
COMPARE_PROC_STAT=stat "$compare" --rounds 1 --stolen-at-most 5 --ours "$counted" --peer "$json" >table 2>log || fail "$(<log)"
grep -q '^\[compare\] round 1 of 1, ours: 1 seconds per update, but 50.0% of the processors were taken away: again$' log ||
  fail "no word of what was stolen: $(<log)"
[[ $(paste -sd ' ' calls) == "ours ours json" ]] || fail "runs again: $(paste -sd ' ' calls)"
grep -q '^ours  *2 ' table || fail "not the second run: $(<table)"
grep -q 'at most 1.0% of the processors taken away in a run$' table || fail "what was lost: $(<table)"

fails() { # TEXT ARGUMENTS...
  local code=0
  : >calls
  "$compare" "${@:2}" >out 2>err || code=$?
  [[ $code == 1 && ! -s out && $(grep -v '^\[' err) == "compare: "*"$1"* ]] || fail "$*: code $code, $(<out) $(<err)"
}
fails "round 1 of 5, peer (echo worse >&2; exit 3): failed with exit code 3. It said last: worse" \
  --ours "$ours" --peer 'echo worse >&2; exit 3'
fails "--stolen-at-most must be a percentage, not 'few'" --ours "$ours" --peer "$json" --stolen-at-most few
fails "failed with exit code 2" --ours "$ours" --peer "$json; exit 2"
fails "exit code 4" --ours "(exit 4) | $ours" --peer "$json"
fails "ended by signal 9" --ours 'kill -9 $$' --peer "$json"
fails "round 1 of 2, ours (true): printed no JSON object with seconds.median" --rounds 2 --ours true --peer "$json"
fails "give --peer-pattern" --ours "$ours" --peer "$text"
fails "matches nothing" --ours "$ours" --peer "$text" --peer-pattern 'roof ([0-9.]+)'
fails "'0' is no number of seconds" --ours "$ours" --peer 'echo floor 0' --peer-pattern 'floor ([0-9.]+)'
fails "--ours is missing" --peer "$json"
fails "--rounds must be a whole number from 1 on, not '0'" --ours "$ours" --peer "$json" --rounds 0
fails "quote a command" --ours "$ours" --peer "$json" benchmark
