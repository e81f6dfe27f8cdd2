# shellcheck shell=bash disable=SC2034,SC2154  # pipelines and these functions share variables, as said below
# The stages that experiments share: text, corpora, trainings, translations, scores. A pipeline's run.sh sources this file, and calls
# them in this order; every stage is skipped when its result is there, so an experiment that was interrupted goes on when its script
# runs again. pipelines/paper/run.sh is the model to follow.
#
# A pipeline sets `pipeline`, its name, and sources this file, which sets the options below to their defaults; others it sets then.
# Functions share these variables with it besides:
#   project            this project's folder
#   train, dev, test   prefixes of the parts of the text, $train.$source, $train.$target and so on: find_text sets them
#   options            of one training: the pipeline's options_of sets them
#
# Options of every experiment:
#   --text PREFIX          parallel text: PREFIX.SOURCE and PREFIX.TARGET (the languages), or PREFIX/train.SOURCE and so on
#                          (PREFIX.train.SOURCE will do, too) with dev.* and test.* beside them; what is not there is held out,
#                          stratified by length
#   --source L, --target L the endings of these names
#   --words N              words of each vocabulary
#   --beam N               of the translations [10]
#   --retry-below N        a sentence of which nothing ends is searched again with beams doubled up to N or more; 0: never [500]
#   --folder DIR           where everything goes
#   --launch local|mpirun|slurm
#                          of each training: a process of this machine; --ranks ranks; jobs of cluster/submit, which are
#                          submitted and left to themselves: when they are done, the same command makes tables and figures [local]
#   --at-once N            local: systems trained at the same time, sharing the CPUs; it changes no result [2]
#   --ranks N              mpirun: ranks. How ranks are placed is LAUNCHER's affair, as of cluster/site.sh [2]
#   --chain N              slurm: jobs of each training, for sites that forbid requeueing
# Every stage is skipped when its result is there, and trainings go on where they stopped: interrupt it and run it again.
project=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
project=${project%/*} # not of the command's output, which would lose a line break at its end
text='' source=en target=fr words='' beam=10 retry_below=500 folder='' launch=local at_once=2 ranks=2 chain=''
extra=() # what stands after --: of every training

say() { echo "[$pipeline] $*"; }
fail() { # in one line, whatever stands in a path
  local words=$*
  echo "$pipeline: ${words//[[:cntrl:]]/?}" >&2
  exit 1
}
# no_option NAME...: a path that begins with a dash, which commands would read as an option, begins with ./ from here on
no_option() {
  local name
  for name; do [[ ${!name} != -* ]] || printf -v "$name" %s "./${!name}"; done
}

# read_options "NAME..." "$@": the options above and those of the pipeline (their names), each into the variable of its name.
# --help prints the comment at the head of the pipeline's script, and the options above.
read_options() {
  local known=" text source target words beam retry-below folder launch at-once ranks chain $1 " name
  shift
  while (($# > 0)); do
    if [[ $1 == --help ]]; then
      sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      sed -n '/^# Options of every/,/^[^#]/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
      exit 0
    fi
    if [[ $1 == -- ]]; then
      extra=("${@:2}")
      break
    fi
    name=${1#--}
    [[ $1 == --* && $known == *" $name "* ]] || fail "unknown option $1; see pipelines/$pipeline/run.sh --help"
    (($# >= 2)) || fail "$1 needs a value; see pipelines/$pipeline/run.sh --help"
    printf -v "${name//-/_}" %s "$2"
    shift 2
  done
  no_option text folder
  [[ $source != "$target" ]] || fail "--source and --target are both '$source'; name two"
  case $launch in local | mpirun | slurm) ;; *) fail "--launch is '$launch'; it must be local, mpirun or slurm" ;; esac
  local number
  [[ $retry_below =~ ^[0-9]+$ ]] || fail "--retry-below is '$retry_below'; it must be a whole number"
  for number in words beam at_once ranks chain; do
    [[ -z ${!number} && $number =~ words|chain || ${!number} =~ ^[1-9][0-9]*$ ]] ||
      fail "--${number//_/-} is '${!number}'; it must be a whole number from 1 on"
  done
}

# begin: makes $folder, and RNNSEARCH is the program: the one the environment names, or else it is built.
begin() {
  local path=$folder
  [[ $path == /* ]] || path=$PWD/$path
  [[ $path != *[$'#\n\r']* ]] ||
    fail "the path ${path@Q} has a # or a line break, which a run's config.ini cannot hold; give another --folder"
  if [[ -z ${RNNSEARCH:-} ]]; then
    RNNSEARCH_BUILD=$(realpath -m -- "${RNNSEARCH_BUILD:-$project/build}") # of this folder, wherever build.sh goes
    export RNNSEARCH_BUILD
    "$project/pipelines/build.sh" --check
    "$project/pipelines/install.sh"
    "$project/pipelines/build.sh"
    RNNSEARCH=$RNNSEARCH_BUILD/rnnsearch
  fi
  export RNNSEARCH
  mkdir -p "$folder"
}

# find_text MADE [source|target]: finds the parts of $text, and holds out what is missing, by the length of that side [source].
# MADE names what else the folder's results depend on. A folder that was made of something else is refused.
find_text() {
  local part made="$1, texts of" first=$source second=$target
  part_of() { # NAME: the prefix under which both sides of it are, or nothing
    local prefix
    for prefix in "$text/$1" "$text.$1" "$text$1"; do
      [[ ! -e $prefix.$source || ! -e $prefix.$target ]] || { echo "$prefix" && return; }
    done
  }
  train=$(part_of train) dev=$(part_of dev) test=$(part_of test)
  if [[ -z $train && -e $text.$source && -e $text.$target ]]; then train=$text; fi
  [[ -n $train ]] || fail "no parallel text $text: neither $text.$source and $text.$target nor $text/train.$source and" \
    "$text/train.$target are there"
  # What is there of another text, or of other words, is not a result of these.
  for part in "$train" ${dev:+"$dev"} ${test:+"$test"}; do
    made+=" $(stat -Lc %s "$part.$source" "$part.$target" | paste -sd ' ')"
  done
  made+=" bytes"
  if [[ -s $folder/made-of ]]; then
    [[ $(<"$folder/made-of") == "$made" ]] ||
      fail "$folder was made with $(<"$folder/made-of"), and now it is $made; give another --folder"
  fi
  echo "$made" >"$folder/made-of"
  local held=()
  [[ -n $test ]] || held+=(test=300)
  [[ -n $dev ]] || held+=(dev=100)
  if ((${#held[@]} > 0)); then
    if [[ ! -e $folder/held-out/complete ]]; then
      say "holding out ${held[*]} (pairs of each length) of $train"
      [[ ${2:-source} == source ]] || first=$target second=$source
      "$project/data/hold_out.pl" "$train.$first" "$train.$second" "$first" "$second" "$folder/held-out" "${held[@]}"
      touch "$folder/held-out/complete"
    fi
    train=$folder/held-out/train
    : "${test:=$folder/held-out/test}" "${dev:=$folder/held-out/dev}"
  fi
}

# prepare CORPUS LENGTH OPTIONS...: a corpus of sentences of at most LENGTH words, with the test set test/test.
test_set() { echo "$1:${2//:/\\:}:${3//:/\\:}"; } # NAME SOURCE REFERENCE: as --test takes it
prepare() {
  [[ ! -e $1 ]] || return 0
  say "preparing the corpus of sentences of at most $2 words"
  "$RNNSEARCH" prepare --source-language "$source" --target-language "$target" --train-source "$train.$source" \
    --train-target "$train.$target" --dev-source "$dev.$source" --dev-target "$dev.$target" \
    --test "$(test_set test "$test.$source" "$test.$target")" --max-length "$2" --output "$1" "${@:3}"
}

# train_systems SYSTEM...: trains them, in this order, into $(run_of SYSTEM). The pipeline's options_of SYSTEM sets `options` to what
# rnnsearch train is given, but for --run. With --launch slurm it returns when all jobs are done, and else ends the script.
run_of() { echo "$folder/${1,,}"; }
training_of() {
  options_of "$1"
  options+=(--run "$(run_of "$1")" "${extra[@]}")
}
launcher_of_ranks() { # prints, one a line, what starts a program on --ranks ranks
  local words=(mpirun -n "$ranks" --bind-to none)
  [[ $(id -u) != 0 ]] || words+=(--allow-run-as-root)
  [[ -z ${LAUNCHER:-} ]] || read -rd '' -a words <<<"$LAUNCHER" || true
  printf '%s\n' "${words[@]}"
}
stop_trainings() { # SIGNAL
  trap '' TERM INT
  say "stopping; the trainings write their checkpoints"
  local running
  read -rd '' -a running <<<"$(jobs -rp)" || true
  kill -s "$1" "${running[@]}" 2>/dev/null || true
  wait
  exit 85
}
finish_trainings() { # FAILED PROCESS...: waits for those of this machine; ends the script if one fails, or FAILED says that one did
  local failed=$1 job
  for job in "${@:2}"; do
    wait "$job" || failed=yes
  done
  trap - TERM INT
  [[ -z $failed ]] || fail "a training ended before it was done: $(find "$folder" -name '*.out' -exec tail -qn 1 {} + | tr '\r' '\n' | grep '^rnnsearch' | tail -1); run this again to go on"
}
train_here() {
  local threads=$(($(nproc) / at_once)) system failed='' started=()
  ((threads > 0)) || threads=1
  trap 'stop_trainings TERM' TERM INT
  for system; do
    training_of "$system"
    while (($(jobs -rp | wc -l) >= at_once)); do wait -n || failed=yes; done
    [[ -z $failed ]] || break
    say "training $system; its log is $(run_of "$system").out"
    "$RNNSEARCH" train "${options[@]}" --threads "$threads" >>"$(run_of "$system").out" 2>&1 &
    started+=($!)
  done
  finish_trainings "$failed" "${started[@]}"
}
train_on_ranks() {
  local system launcher
  mapfile -t launcher < <(launcher_of_ranks)
  # Bash takes no signal while it waits for a command before it; and mpirun and srun pass USR1 on, but end the ranks at TERM.
  trap 'stop_trainings USR1' TERM INT
  for system; do
    training_of "$system"
    say "training $system"
    "${launcher[@]}" "$RNNSEARCH" train "${options[@]}" &
    wait $!
  done
  trap - TERM INT
}
submit_trainings() {
  local system run job waiting=
  for system; do
    training_of "$system"
    run=$(run_of "$system")
    if [[ -e $run.jobs/done ]]; then continue; fi
    waiting=yes
    if [[ -s $run.jobs/jobs ]] && [[ -n $(squeue -h -o %i -j "$(sed 's/_.*//' "$run.jobs/jobs" | paste -sd,)" 2>/dev/null) ]]; then
      say "$system is in the queue: jobs $(paste -sd ' ' "$run.jobs/jobs")"
    else
      job=$(LOGS=$folder/logs "$project/cluster/submit" ${chain:+--chain "$chain"} train "${options[@]}" | paste -sd ' ') # a failure ends all here
      say "$system: job $job"
    fi
  done
  [[ -z $waiting ]] || { say "run the same command again when these are done" && exit 0; }
}
train_systems() {
  case $launch in
    local) train_here "$@" ;;
    mpirun) train_on_ranks "$@" ;;
    slurm) submit_trainings "$@" ;;
  esac
}

# checkpoint_of SYSTEM: its best checkpoint, or, where it never validated, its latest.
checkpoint_of() {
  local pointer
  pointer=$(run_of "$1")/checkpoints/best
  [[ -e $pointer ]] || pointer=${pointer%best}latest
  echo "${pointer%/*}/$(<"$pointer")"
}

# translate SYSTEM OUTPUT OPTIONS...: translates the test set with the best checkpoint of SYSTEM, unless OUTPUT is newer than that.
# OPTIONS are those of rnnsearch translate: --normalize, which ranks hypotheses by log-probability divided by length, is one of them.
# Translations (named $folder/test.*) of another --beam or --retry-below are removed by `translations_begin` first.
translations_begin() {
  local search="$beam, retried below $retry_below"
  if [[ -s $folder/beam && $(<"$folder/beam") != "$search" ]]; then rm -f "$folder"/test.*."$target"; fi
  echo "$search" >"$folder/beam"
}
translate() {
  local launcher=()
  [[ ! $2 -nt $(checkpoint_of "$1") ]] || return 0
  say "translating with $1: $2"
  [[ $launch != mpirun ]] || mapfile -t launcher < <(launcher_of_ranks)
  "${launcher[@]}" "$RNNSEARCH" translate --model "$(run_of "$1")" --input "$test.$source" --output "$2" --beam "$beam" \
    --retry-below "$retry_below" "${@:3}"
}

# score SYSTEM SOURCE TARGET OUTPUT: the log-probability that the best checkpoint of SYSTEM gives to each line of TARGET, unless OUTPUT
# is newer than that checkpoint.
score() {
  local launcher=()
  [[ ! $4 -nt $(checkpoint_of "$1") ]] || return 0
  say "scoring $3 with $1"
  [[ $launch != mpirun ]] || mapfile -t launcher < <(launcher_of_ranks)
  "${launcher[@]}" "$RNNSEARCH" score --model "$(run_of "$1")" --source "$2" --target "$3" >"$4.new"
  mv "$4.new" "$4"
}

# is_scored FILE: FILE, the last result of a pipeline's scores, is newer than all translations.
is_scored() {
  local translation
  for translation in "$folder"/test.*."$target"; do [[ $1 -nt $translation ]] || return 1; done
}

# evaluate OUTPUT OPTIONS...: what rnnsearch evaluate prints, in OUTPUT once it is whole.
evaluate() {
  "$RNNSEARCH" evaluate "${@:2}" >"$1.new"
  mv "$1.new" "$1"
}

# some_lines FILE: four lines of 15 to 25 words, spread over it, nobody's choice, as --lines takes them.
some_lines() {
  local lines
  lines=$(awk 'NF >= 15 && NF <= 25 {line[n++] = NR} END {for (i = 0; i < 4 && i < n; ++i) print line[int(n * (i + 0.5) / 4)]}' \
    <"$1" | uniq | paste -sd,)
  echo "${lines:-1}" # a text of short sentences
}

# align SYSTEM TRANSLATION LINES OUTPUT: what SYSTEM looked at when it wrote these lines of TRANSLATION, as OUTPUT.json and as heat
# maps in the folder OUTPUT.
align() {
  rm -rf "$4"
  "$RNNSEARCH" align --model "$(run_of "$1")" --source "$test.$source" --target "$2" --lines "$3" --svg "$4" --json "$4.json.new"
  mv "$4.json.new" "$4.json"
}

# all_systems REPORT.md OUTPUT: those tables of rnnsearch report --markdown in which all systems stand side by side, without those of
# each pair of systems.
all_systems() {
  sed '/^\*\*Difference/,$d' "$1" >"$2.new"
  mv "$2.new" "$2"
}
