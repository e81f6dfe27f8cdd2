#!/usr/bin/env bash
# Two hosts with two ranks each: gradients are summed within a host first, so that half as much crosses the cable as between ranks that
# are dealt out in turn. The result has the same bits for both, and for four ranks on one host.
set -euo pipefail
lab=$SOURCE/tests/support/lab/lab
export LAB=$PWD/lab
"$lab" check
trap '"$lab" down' EXIT
"$lab" up 2

# shellcheck disable=SC2016  # what awk reads is not the shell's
sent_by_n1() {
  "$lab" on n1 awk '/:/ && !/ lo:/ { sub(/.*:/, ""); sum += $9 } END { print sum }' /proc/net/dev
}

# train NAME WHERE...: six updates on four ranks; prints the bytes that left n1, and the last loss
train() {
  local name=$1 before after loss
  shift
  before=$(sent_by_n1)
  "$lab" mpirun -n 4 "$@" -x RNNSEARCH_OVERSUBSCRIBE=1 "$RNNSEARCH" benchmark --preset small --embedding 250 --state 150 --alignment 150 \
    --maxout 150 --source-words 12000 --target-words 12000 --batch-sentences 64 --source-length 10 --target-length 10 --precision f32 \
    --threads 1 --updates 5 --untimed-updates 1 --machine false --json - >"$name.json" 2>"$name.log" || { cat "$name.log" >&2 && exit 1; }
  after=$(sent_by_n1)
  loss=$(grep -o '"last_loss": *[0-9.e+-]*' "$name.json")
  echo "$((after - before)) $loss"
}

train one_host -H n1:4 >one_host.figures
train neighbours -H n1:2,n2:2 --map-by slot >neighbours.figures
train in_turn -H n1:2,n2:2 --map-by node >in_turn.figures
tail ./*.figures
for name in neighbours in_turn; do
  grep -q '"hosts": *2' "$name.json" || { echo "FAILED: $name is not on two hosts" >&2 && exit 1; }
done
[[ $(cut -d ' ' -f 2- ./*.figures | sort -u | wc -l) == 1 ]] || {
  echo "FAILED: the bits of the loss depend on the hosts" >&2
  exit 1
}
read -r few _ <neighbours.figures
read -r many _ <in_turn.figures
((few * 10 < many * 6)) || {
  echo "FAILED: $few bytes left a host, and $many where ranks are dealt out; half as many are expected" >&2
  exit 1
}
