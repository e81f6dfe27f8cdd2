# shellcheck shell=bash disable=SC2034  # the scripts that source this use what is set here
# Shared by scripts: a tiny corpus, the arguments of a run, the comparison of the last checkpoints of two runs, and pairs to score.
command -v h5diff >/dev/null || { echo "skipped: h5diff (Debian: hdf5-tools) is not installed" >&2; exit 77; }

source "$SOURCE/tests/support/shell.sh"

# Ends all trainings when a test fails.
trap '[[ -z $(jobs -p) ]] || { kill -CONT $(jobs -p); kill $(jobs -p); } 2>/dev/null || true' EXIT

# draw N: sets `drawn` to one of 0 .. N - 1, as SEED determines, by Park and Miller's generator, because that of bash differs between
# versions
draw() {
  : "${random_state:=$((SEED % 2147483646 + 1))}"
  random_state=$((random_state * 48271 % 2147483647))
  drawn=$((random_state % $1))
}

# count FILE...: prints the number of existing files
count() { echo $#; }

make_corpus() {
  "$SOURCE/data/reversal.sh" text --vocabulary 10 --max-length 7 --train 600 --dev 16 --test 16 >/dev/null
  "$RNNSEARCH" prepare --train-source text/train.source --train-target text/train.target --dev-source text/dev.source \
    --dev-target text/dev.target --tokenizer none --output corpus.h5 >/dev/null
}

# train_arguments RUN UPDATES: prints arguments for a model of some 20,000 parameters, 50 updates per epoch, with an adaptive optimiser
# and schedule. Precision is f32 on every processor, because the rounding of sums in another order depends on it.
train_arguments() {
  echo train --corpus corpus.h5 --run "$1" --max-updates "$2" --embedding 12 --state 24 --alignment 16 --maxout 12 \
    --optimizer adam --learning-rate 0.01 --gradient-of word --batch-sentences 12 --schedule plateau \
    --validate-every 7 --checkpoint-minutes 0 --log-every 1 --threads 1 --precision f32
}

# on RANKS RUN UPDATES [OPTION...]: trains with what `arguments RUN UPDATES` prints, which a script may define otherwise
on() {
  local start=("$MPIEXEC" -n "$1")
  (($1 > 1)) || start=()
  # shellcheck disable=SC2046  # what arguments prints is split into the arguments of a command
  "${start[@]}" "$RNNSEARCH" $(arguments "$2" "$3") "${@:4}" 2>"$2.log" || fail "$2 on $1 ranks: $(tail -n 3 "$2.log")"
}
arguments() { train_arguments "$@"; }

has_updates() { # RUN N
  [[ -e $1/log.jsonl ]] && (($(grep -c '"event":"update"' "$1/log.jsonl") >= $2))
}

# terminated JOB RUN UPDATES: sends SIGTERM to JOB when RUN has logged so many updates, and sets `code` to its exit code
terminated() {
  until has_updates "$2" "$3" || ! kill -0 "$1" 2>/dev/null; do sleep 0.05; done
  kill -TERM "$1" || fail "$2 ended before update $3"
  code_of wait "$1"
}

lines_of_log() {
  if [[ -e $1/log.jsonl ]]; then wc -l <"$1/log.jsonl"; else echo 0; fi
}

# processes_of JOB: prints the processes that the launcher JOB has started here: its children, and those of a daemon among them (Hydra)
processes_of() {
  local child
  for child in $(pgrep -P "$1"); do
    echo "$child"
    pgrep -P "$child" || true
  done
}

# until_caught JOB RANKS: waits until the program, or RANKS processes that it started (a launcher), handle SIGUSR1
until_caught() {
  local pids pid mask caught
  while kill -0 "$1" 2>/dev/null; do
    pids=$1 caught=0
    (($2 == 1)) || pids=$(processes_of "$1")
    for pid in $pids; do
      # Checks the name first: before exec the process is a shell, which also handles the signal.
      [[ $(cat "/proc/$pid/comm" 2>/dev/null) == rnnsearch ]] || continue
      mask=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$pid/status" 2>/dev/null || true)
      ((0x0${mask:-0} >> 9 & 1)) && caught=$((caught + 1))
    done
    ((caught < $2)) || return 0
    sleep 0.002
  done
}

# rank_of JOB RANK: prints the process of this rank of the launcher JOB
rank_of() {
  local pid
  for pid in $(processes_of "$1"); do
    if grep -qxE "(OMPI_COMM_WORLD_RANK|PMI_RANK)=$2" <<<"$(tr '\0' '\n' <"/proc/$pid/environ")"; then echo "$pid" && return; fi
  done
  fail "no rank $2 below $1"
}

# The number of updates of a run that will be disturbed: so many that it is not done before, however long the script waits for a
# processor. The undisturbed run is made afterwards, with somewhat more updates than newest_update RUN prints.
endless=1000000
newest_update() {
  local file update
  file=$(last_checkpoint "$1") update=${file##*update-}
  update=${update%.h5}
  echo $((10#$update))
}

# until_gone PROCESS...: waits until these processes have ended, which may not be our children
until_gone() {
  local pid
  for pid; do
    while [[ $(ps -o stat= -p "$pid") == [!Z]* ]]; do sleep 0.01; done
  done
}

last_checkpoint() {
  echo "$1/checkpoints/$(cat "$1/checkpoints/latest")"
}

# expect_equal RUN RUN: parameters, optimiser and the training state of both runs are bit-identical
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
    awk '/ATTRIBUTE/ {name = $2} /\(0\):/ && name !~ /seconds|world_size|bytes_sent|former_checkpoint/ {print name, $0}'
}

# pairs_of LIST: from an n-best list in JSON of the lines of the file source, what ended and is not empty: its source sentences to the file
# pairs, its texts to pairs.target, its log-probabilities to expected
pairs_of() {
  python3 - "$1" <<'PYTHON'
import json, sys
source = open("source").read().split("\n")
with open("pairs", "w") as pairs, open("pairs.target", "w") as targets, open("expected", "w") as expected:
    for line in open(sys.argv[1]):
        found = json.loads(line)
        if not found["finished"] or not found["length"]: continue
        print(source[found["line"]], file=pairs)
        print(found["text"], file=targets)
        print(found["log_probability"], file=expected)
PYTHON
}

# translated NAME OPTION...: writes an n-best list in JSON of the translations of the file source to NAME, and what is said to err
translated() {
  "${started_by[@]}" "$RNNSEARCH" translate --input source --output "$1" --precision f32 --n-best-format json "${@:2}" 2>err ||
    fail "$*: $(<err)"
}
started_by=()

# everywhere NAME OPTION...: the same, and three ranks of two threads, in batches of 5, find the same bytes
everywhere() {
  translated "$1" --threads 1 "${@:2}"
  started_by=("$MPIEXEC" -n 3)
  translated again --threads 2 --batch-sentences 5 "${@:2}"
  started_by=()
  cmp "$1" again || fail "${*:2}: three ranks of two threads, or batches of 5, find something else"
}

# expect_scores LIST LEAST OPTION...: forced decoding of the translations that have ended, at least so many, has their log-probabilities, on
# three ranks, too
expect_scores() {
  local scoring=("$RNNSEARCH" score --source pairs --target pairs.target --precision f32 --threads 1 "${@:3}")
  pairs_of "$1"
  (($(wc -l <pairs) > $2)) || fail "$1: only $(wc -l <pairs) translations ended"
  "${scoring[@]}" >scores
  "$MPIEXEC" -n 3 "${scoring[@]}" 2>/dev/null | cmp - scores || fail "$1: three ranks score otherwise than one"
  paste scores expected | awk '{ d = $1 - $2; if (d < -1e-4 || d > 1e-4) { print "score: " $1 ", translate: " $2; bad = 1 } } END { exit bad }' ||
    fail "$1: score does not agree with translate"
}
