#!/usr/bin/env bash
# A corpus on a slow file system: a loop device with limited bandwidth, and a page cache that is emptied all the time. Training
# works; the time that it waits for data is in the log, in the event `stop` and in the summary, and is far shorter with prefetch; the
# weights are the same.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
bytes_a_second=4000000

skip() {
  echo "skipped: $*" >&2
  exit 77
}
[[ $(id -u) == 0 ]] || skip "only root can make a slow file system"
for tool in losetup mkfs.ext4; do command -v $tool >/dev/null || skip "$tool is not installed"; done
group=/sys/fs/cgroup enabled=''
if [[ -w $group/cgroup.subtree_control ]]; then
  limit=io.max
  if ! grep -qw io $group/cgroup.subtree_control; then
    echo +io 2>/dev/null >$group/cgroup.subtree_control || skip "control groups may not limit input here"
    enabled=$group/cgroup.subtree_control
  fi
elif [[ -w $group/blkio/cgroup.procs ]]; then
  limit=blkio.throttle.read_bps_device group+=/blkio
else
  skip "no control groups that limit input"
fi
group+=/rnnsearch-test-$$ device='' watcher=''
clean_up() {
  [[ -z $watcher ]] || kill "$watcher" 2>/dev/null || true
  wait
  ! mountpoint -q slow || umount --lazy slow
  [[ -z $device ]] || losetup -d "$device"
  ! mountpoint -q memory || umount --lazy memory
  [[ ! -d $group ]] || rmdir "$group"
  [[ -z $enabled ]] || echo -io >"$enabled"  # as it was before
}
trap clean_up EXIT
mkdir "$group" || skip "may not make a control group"
[[ -e $group/$limit ]] || skip "this kernel does not limit input"

# Two windows of 65,536 pairs of short sentences.
awk 'BEGIN {
  srand(1)
  for (i = 0; i < 131072; ++i) {
    line = ""
    for (k = 1 + int(rand() * 3); k > 0; --k) line = line " w" int(rand() * 60)
    print substr(line, 2)
  }
}' >text
"$RNNSEARCH" prepare --train-source text --train-target text --tokenizer none --output corpus.h5 >/dev/null

mkdir memory  # so that the speed of the disk below the loop device does not matter
mount -t tmpfs -o size=40M rnnsearch-test memory 2>/dev/null || skip "may not mount"
truncate -s 32M memory/image
mkfs.ext4 -q memory/image
device=$(losetup -f --show memory/image 2>/dev/null) || skip "no loop device"
echo 0 >"/sys/block/$(basename "$device")/queue/read_ahead_kb"  # otherwise each read would fetch data that the cache loses at once
mkdir slow
mount "$device" slow
cp corpus.h5 slow
sync slow/corpus.h5
number=$(cat "/sys/block/$(basename "$device")/dev")
if [[ $limit == io.max ]]; then echo "$number rbps=$bytes_a_second"; else echo "$number $bytes_a_second"; fi >"$group/$limit"
while sleep 0.05; do dd if=slow/corpus.h5 of=/dev/null iflag=nocache count=0 status=none; done &
watcher=$!

# train RUN OPTION...: trains for three windows and the beginning of the next
train() {
  bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$RNNSEARCH" train --corpus slow/corpus.h5 --run "$@" \
    --max-updates 68 --embedding 8 --state 8 --alignment 8 --maxout 8 --optimizer adam --learning-rate 0.001 \
    --gradient-of word --batch-sentences 2048 --pool-batches 8 --validate-every 0 --checkpoint-every 20 --log-every 1 \
    --threads 1 2>"$1.log" ||
    fail "$1: code $?: $(<"$1.log")"
}
# waited RUN: prints the seconds of all its updates, and of waiting for data
waited() {
  awk -F '[:,{}]' '/"event":"update"/ {
    for (i = 1; i < NF; ++i) { if ($i == "\"seconds\"") all += $(i + 1); if ($i == "\"data_seconds\"") data += $(i + 1) }
  } END { printf "%.3f %.3f", all, data }' "$1/log.jsonl"
}
# A training that waited for a processor is repeated.
for _ in {1..6}; do
  rm -rf ahead behind
  train ahead
  train behind --prefetch false
  expect_equal ahead behind
  read -r ahead_all ahead <<<"$(waited ahead)"
  read -r behind_all behind <<<"$(waited behind)"
  echo "at $bytes_a_second bytes a second: updates of $behind_all s waited $behind s, read ahead $ahead_all s and $ahead s"
  awk -v ahead="$ahead" -v behind="$behind" 'BEGIN { exit !(behind > 0.3 && ahead < behind / 2) }' && hidden=yes && break
done
[[ -n ${hidden:-} ]] || fail "reading ahead should have hidden more"
for run in ahead behind; do
  grep -q 'for data, .*% of their' $run.log || fail "$run does not say how long it waited: $(<$run.log)"
  grep '"event":"stop"' $run/log.jsonl | grep -q '"data_seconds":' || fail "the event stop of $run does not say it"
done
