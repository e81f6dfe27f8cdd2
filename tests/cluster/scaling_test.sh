#!/usr/bin/env bash
# The simulator of cluster/scaling, which uses the engine's own all-reduces: it builds, gives every rank the same, correct bits
# on 2, 3, 16 and 20 simulated ranks, and agrees with the analytic model on 2, 4 and 16.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
scaling=$SOURCE/cluster/scaling

status=0
"$scaling/build.sh" "$PWD" >log 2>&1 || status=$?
[[ $status != 77 ]] || { echo "skipped: no SimGrid (libsimgrid-dev)" >&2; exit 77; }
((status == 0)) || fail "the build: $(<log)"
[[ ! -s log ]] || fail "the build says: $(<log)"
export PYTHONDONTWRITEBYTECODE=1
python3 "$scaling/scaling.py" verify --simulator "$PWD/simulate" >verified 2>errors || fail "$(tail -3 verified errors)"
[[ $(grep -c 'same bits' verified) == 10 && $(grep -c 'analytic' verified) == 16 ]] || fail "$(<verified)"

# a prediction from the stored measurements: by the analytic model and simulated, on each kind of network; 64 ranks take longest
simulated=' / [0-9.]+ \([-+][0-9.]+\)' most=16 of_64=''
[[ -z ${RNNSEARCH_TEST_LONG:-} ]] || most=64 of_64=$simulated
for topology in 'fat tree' 'fat tree 2:1' dragonfly; do
  python3 "$scaling/scaling.py" predict --measured "$scaling/measured.json" --scaling weak --network '100 Gb/s' --node 32 \
    --variant overlap --topology "$topology" --simulator "$PWD/simulate" --simulate-up-to $most --ranks 16 64 1024 >predicted
  grep -Eq "^\| overlap \| [0-9.]+$simulated \| [0-9.]+$of_64 \| [0-9.]+ \|\$" predicted || fail "$topology: $(<predicted)"
done

# four ranks that share the link of a host: adding within hosts first is worth a lot
python3 "$scaling/scaling.py" predict --measured "$scaling/measured.json" --scaling weak --network '100 Gb/s' --node 32 --ranks-of-host 4 \
  --variant overlap 'overlap, dealt out' --simulator "$PWD/simulate" --simulate-up-to 16 --ranks 16 >predicted
perl -ne 'push @found, [$1, $2] if m{^\| overlap.* \| ([0-9.]+) / ([0-9.]+) \(};
  END { exit !(@found == 2 && $found[0][0] > $found[1][0] + 3 && $found[0][1] > $found[1][1] + 3) }' predicted ||
  fail "by hosts first and dealt out: $(<predicted)"

# a file that the simulator cannot read is rejected with a one-line error
echo 'parts 1 2 3' >scenario
cat >platform.xml <<'XML'
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="world" routing="Full"><host id="n0" speed="1Gf" core="2"/></zone></platform>
XML
status=0
./simulate platform.xml scenario --log=root.thres:critical >out 2>&1 || status=$?
((status != 0)) || fail "a wrong scenario was simulated: $(<out)"
grep -q "scenario, line 1: 'parts 1 2 3' is not understood" out || fail "$(<out)"
