# shellcheck shell=bash disable=SC2034  # the scripts that source this use what is set here
# For the scripts beside it: a tiny corpus, a run of it, and the comparison of two runs' last checkpoints.
command -v h5diff >/dev/null || { echo "skipped: h5diff (Debian: hdf5-tools) is not installed" >&2; exit 77; }

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# A test that fails leaves no training behind.
trap '[[ -z $(jobs -p) ]] || { kill -CONT $(jobs -p); kill $(jobs -p); } 2>/dev/null || true' EXIT

# count FILE...: how many there are
count() { echo $#; }

make_corpus() {
  "$SOURCE/data/reversal.sh" text --vocabulary 10 --max-length 7 --train 600 --dev 16 --test 16 >/dev/null
  "$RNNSEARCH" prepare --train-source text/train.source --train-target text/train.target --dev-source text/dev.source \
    --dev-target text/dev.target --tokenizer none --output corpus.h5 >/dev/null
}

# train_arguments RUN UPDATES: some 20,000 parameters, 50 updates an epoch, adaptive everything. In f32 on every processor: what
# sums in another order may differ by is a matter of the precision.
train_arguments() {
  echo train --corpus corpus.h5 --run "$1" --max-updates "$2" --embedding 12 --state 24 --alignment 16 --maxout 12 \
    --optimizer adam --learning-rate 0.01 --gradient-of word --batch-sentences 12 --schedule plateau \
    --validate-every 7 --checkpoint-minutes 0 --log-every 1 --threads 1 --precision f32
}

lines_of_log() {
  if [[ -e $1/log.jsonl ]]; then wc -l <"$1/log.jsonl"; else echo 0; fi
}

# until_caught JOB RANKS: the program, or so many children of it (under mpirun), catches SIGUSR1
until_caught() {
  local pids pid mask caught
  while kill -0 "$1" 2>/dev/null; do
    pids=$1 caught=0
    (($2 == 1)) || pids=$(pgrep -P "$1" || true)
    for pid in $pids; do
      # Its name first: before its exec it is a shell, which catches the signal too.
      [[ $(cat "/proc/$pid/comm" 2>/dev/null) == rnnsearch ]] || continue
      mask=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$pid/status" 2>/dev/null || true)
      ((0x0${mask:-0} >> 9 & 1)) && caught=$((caught + 1))
    done
    ((caught < $2)) || return 0
    sleep 0.002
  done
}

# rank_of JOB RANK: its process, below mpirun
rank_of() {
  local pid
  for pid in $(pgrep -P "$1"); do
    if tr '\0' '\n' <"/proc/$pid/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$2"; then echo "$pid" && return; fi
  done
  fail "no rank $2 below $1"
}

# A run that is to be disturbed has this many updates: however long the disturber waits for a processor, it is not done before.
# The one to compare it with is made afterwards, of some more than newest_update RUN says.
endless=1000000
newest_update() {
  local file update
  file=$(last_checkpoint "$1") update=${file##*update-}
  update=${update%.h5}
  echo $((10#$update))
}

# until_gone PROCESS...: they have ended, who may not be our children
until_gone() {
  local pid
  for pid; do
    while [[ $(ps -o stat= -p "$pid") == [!Z]* ]]; do sleep 0.01; done
  done
}

last_checkpoint() {
  echo "$1/checkpoints/$(cat "$1/checkpoints/latest")"
}

# expect_equal RUN RUN: parameters, optimiser and the state that counts are the same to the bit
expect_equal() {
  local one two group
  one=$(last_checkpoint "$1") two=$(last_checkpoint "$2")
  [[ $(basename "$one") == $(basename "$two") ]] || fail "$1 ends with $one, $2 with $two"
  for group in /parameters /optimizer; do
    h5diff "$one" "$two" $group $group || fail "$group differs between $1 and $2"
  done
  diff <(state_of "$1") <(state_of "$2") || fail "the state differs between $1 and $2"
}

state_of() {
  h5dump -g /state "$(last_checkpoint "$1")" |
    awk '/ATTRIBUTE/ {name = $2} /\(0\):/ && name !~ /seconds|world_size|bytes_sent/ {print name, $0}'
}
