#!/usr/bin/env bash
# pipelines/replication/run.sh at a small size: two lengths, one round of 600 updates, three systems, by the source's protocol. The
# readout that sees only the state (ablation b) must score below the full model, and below the state that sees only itself (d).
# GeoMean in percent, least to most of six rounds (seeds 1 to 6):
#   up to 10 numbers   full 60-72   b 4-22   d 59-70
#   up to 20 numbers   full 12-76   b 3-12   d 14-77
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
run() {
  "$SOURCE/pipelines/replication/run.sh" --lengths 10,20 --systems full,b,d --rounds 1 --updates 600 --test 1000 --folder short --at-once 2
}

run >first.out 2>&1 || fail "$(tail -n 5 first.out short/*/*/*.out)"
geo_mean() { awk '$1 == "GeoMean" && $2 == "1,000" {print $3}' "short/length-$1/round-1/$2.scores"; } # LENGTH SYSTEM
for pair in 10:full 10:d 20:d; do
  length=${pair%:*} system=${pair#*:}
  awk -v better="$(geo_mean "$length" "$system")" -v b="$(geo_mean "$length" b)" 'BEGIN { exit !(better > b) }' ||
    fail "up to $length numbers, $system has a GeoMean of $(geo_mean "$length" "$system") and b of $(geo_mean "$length" b)"
done
[[ $(grep -c . short/rounds.md) -ge 3 && $(grep -c '^| full' short/medians.md) -ge 1 ]] || fail "no tables: $(cat short/*.md)"
grep -q '<svg' short/chart.svg || fail "no chart: $(head -n 3 short/chart.svg)"
# The maximum that can be reached with sequences of up to 10 numbers: 1 - (3/10)(1 - 0.75^10).
grep -q '0\.7169' short/medians.md || fail "the ceiling is missing: $(<short/medians.md)"

# A second call trains no finished round again; a folder belongs to one protocol.
touch stamp
run >again.out 2>&1 || fail "$(tail -n 5 again.out)"
[[ -z $(find short -newer stamp -name '*.h5') ]] || fail "trained twice: $(find short -newer stamp -name '*.h5')"
code_of "$SOURCE/pipelines/replication/run.sh" --protocol ours --lengths 10 --systems full --rounds 1 --updates 600 --test 1000 --folder short >other.out 2>&1
{ [[ $code == 1 ]] && grep -q 'give another --folder' other.out; } || fail "another protocol in the same folder: code $code, $(<other.out)"

# A signal during training: the training writes a checkpoint before the script ends, and no process is left behind.
"$SOURCE/pipelines/replication/run.sh" --lengths 10 --systems full --rounds 1 --updates 20000 --test 10 --folder cut --at-once 1 >cut.out 2>&1 &
run=cut/length-10/round-1/full
terminated $! $run 2
[[ $code == 85 ]] || fail "TERM: code $code: $(<cut.out)"
[[ -s $(last_checkpoint $run) ]] || fail "TERM: no checkpoint: $(ls $run)"
grep -q '"event":"stop".*signal' $run/log.jsonl || fail "TERM: the training did not end by it: $(tail -n 1 $run/log.jsonl)"
