#!/usr/bin/env bash
# Two hosts whose cables carry 1 Gbit/s: all-reduces overlap with backward, and of the embeddings only rows that occur are sent.
# Measured in updates of the trainer, with and without overlap.
#
#   tests/run.sh -R comm_overlap        a model a tenth as large over cables of half the speed, with a weak requirement,
#                                       because other programs may run at the same time
#   SCALE=paper RNNSEARCH=/path/to/build/rnnsearch SOURCE=/path/to/project bash tests/comm/overlap_test.sh
#                                       RNNsearch-50, 80 pairs of 24 words on each rank: some five minutes, on a machine
#                                       without other work
set -euo pipefail
lab=$SOURCE/tests/support/lab/lab
export LAB=$PWD/lab
"$lab" check
case ${SCALE:=small} in
  paper) # 80,437,240 parameters, 182 MB an update
    mbits=1000 hidden_percent=70 fewer_percent=40 updates=3
    options=(--preset rnnsearch-50 --readout-rank 0 --batch-sentences 160 --source-length 24 --target-length 24)
    ;;
  small)
    mbits=500 hidden_percent=40 fewer_percent=40 updates=5
    options=(--preset small --embedding 250 --state 300 --alignment 300 --maxout 150 --source-words 12000 --target-words 12000
      --batch-sentences 64 --source-length 20 --target-length 20 --precision f32)
    ;;
esac
trap '"$lab" down' EXIT
"$lab" up 2
for host in n1 n2; do "$lab" slow $host "$mbits"; done

# measure WAY: writes the figures of an update with --overlap WAY to WAY.json
measure() {
  "$lab" mpirun -n 2 -x RNNSEARCH_OVERSUBSCRIBE=1 "$RNNSEARCH" benchmark "${options[@]}" --threads 1 --updates "$updates" \
    --untimed-updates 1 --json - --overlap "$1" >"$1.json" 2>"$1.log" || { cat "$1.log" >&2 && exit 1; }
}
figure() {
  grep -o "\"$2\": *[0-9.e+-]*" "$1.json" | head -n 1 | grep -o '[0-9.e+-]*$'
}
judge() {
  measure false
  measure true
  awk -v scale="$SCALE" -v mbits="$mbits" -v load="$(cut -d ' ' -f 1 /proc/loadavg)" -v hidden_wanted="$hidden_percent" \
  -v fewer_wanted="$fewer_percent" -v parameters="$(figure true parameters)" -v bytes="$(figure true bytes_sent)" \
  -v blocking="$(figure false visible_reduction_seconds)" -v visible="$(figure true visible_reduction_seconds)" \
  -v update_blocking="$(figure false median)" -v update="$(figure true median)" 'BEGIN {
  dense = 4 * parameters  # 2 (n - 1) / n of the gradient, at two ranks
  hidden = 100 * (1 - visible / blocking)
  fewer = 100 * (1 - bytes / dense)
  printf "overlap: %s, %d Mbit/s, load %s: a sum that is waited for takes %.3f s, with overlap %.3f s are seen: ", scale, mbits, load,
    blocking, visible
  printf "%.0f %% hidden; an update takes %.2f s and %.2f s; ", hidden, update_blocking, update
  printf "%.1f MB sent, dense %.1f: %.0f %% less\n", bytes / 1e6, dense / 1e6, fewer
  if (hidden < hidden_wanted) { printf "FAILED: %d %% hidden are expected\n", hidden_wanted; failed = 1 }
  if (fewer < fewer_wanted) { printf "FAILED: %d %% less are expected\n", fewer_wanted; failed = 1 }
  exit failed
}'
}
# Measures again if a process had no processor meanwhile.
for _ in {1..6}; do
  if judge; then exit 0; fi
done
exit 1
