# shellcheck shell=bash disable=SC2034,SC2154  # pipelines and these functions share variables, as said below
# The stages that experiments share: text, corpora, trainings, translations, scores. A pipeline's run.sh sources this file and calls
# its functions in this order. Every stage is skipped when its result exists, so an interrupted experiment resumes when its script
# runs again. pipelines/paper/run.sh is the model to follow.
#
# A pipeline sets `pipeline` to its name and sources this file, which sets the options below to their defaults; the pipeline then sets
# options of its own. The functions also share these variables with it:
#   project            this project's folder
#   train, dev, test   prefixes of the parts of the text: $train.$source, $train.$target and so on (set by find_text)
#   options            options of one training (set by the pipeline's options_of)
#
# Options of every experiment:
#   --text PREFIX          parallel text: the files PREFIX.L of both languages, or PREFIX/train.L or PREFIX.train.L; dev.L and test.L
#                          beside them are the other sets, and a set that is missing is held out of the training text, stratified
#                          by sentence length
#   --source L, --target L source and target language: the endings of these file names
#   --words N              size of each vocabulary, in words
#   --beam N               beam width of the translations [10]
#   --retry-below N        search again, with doubled beams up to width N or more, for a sentence of which no hypothesis ends;
#                          0 never searches again [500]
#   --folder DIR           folder for all results
#   --launch local|mpirun|slurm
#                          how each training is started: local as one process on this machine; mpirun on --ranks ranks; slurm as
#                          jobs of cluster/submit, after which the script ends: run the same command again when they are done [local]
#   --at-once N            local only: number of systems trained at the same time, sharing the CPUs; it changes no result [2]
#   --ranks N              mpirun only: number of ranks; set LAUNCHER to place them, as in cluster/site.sh [2]
#   --chain N              slurm only: number of jobs in the chain of each training, for sites that forbid requeueing
# A stage whose result exists is skipped, and trainings resume from their last checkpoint: interrupt the script and run it again.
project=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
project=${project%/*} # not within $(...), which would remove a line break at the end of the path
text='' source=en target=fr words='' beam=10 retry_below=500 folder='' launch=local at_once=2 ranks=2 chain=''
extra=() # options after --, for every training
given=() # the options before it

say() { (trap '' PIPE && echo "[$pipeline] $*" 2>/dev/null) || true; } # a reader that has gone must not end the script
fail() { # one line, also if a path contains control characters
  local words=$*
  echo "$pipeline: ${words//[[:cntrl:]]/?}" >&2
  exit 1
}
# no_option NAME...: prefixes ./ to the paths in these variables that begin with a dash, which commands would read as options
no_option() {
  local name
  for name; do [[ ${!name} != -* ]] || printf -v "$name" %s "./${!name}"; done
}

# parse_options "NAME..." "$@": sets the variables of these options from the command line. --help prints the comment at the head of the
# pipeline's script, and the options above if they are among NAME...
parse_options() {
  local known=" $1 " name
  shift
  while (($# > 0)); do
    if [[ $1 == --help ]]; then
      sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      [[ $known != *" text "* ]] || sed -n '/^# Options of every/,/^[^#]/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
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
    given+=("$1" "$2")
    shift 2
  done
}
# whole_numbers NAME...: fails unless the options in these variables are whole numbers from 1 on
whole_numbers() {
  local name
  for name; do
    [[ ${!name} =~ ^[1-9][0-9]*$ ]] || fail "--${name//_/-} is '${!name}'; it must be a whole number from 1 on"
  done
}
# read_options "NAME..." "$@": as parse_options, for the options above and the pipeline's options NAME...
read_options() {
  parse_options "text source target words beam retry-below folder launch at-once ranks chain $1" "${@:2}"
  no_option text folder
  [[ $source != "$target" ]] || fail "--source and --target are both '$source'; name two"
  case $launch in local | mpirun | slurm) ;; *) fail "--launch is '$launch'; it must be local, mpirun or slurm" ;; esac
  [[ $retry_below =~ ^[0-9]+$ ]] || fail "--retry-below is '$retry_below'; it must be a whole number"
  whole_numbers ${words:+words} beam at_once ranks ${chain:+chain}
}

# begin: makes $folder and builds the program, unless the environment variable RNNSEARCH names one.
begin() {
  local path=$folder
  [[ $path == /* ]] || path=$PWD/$path
  [[ $path != *[$'#\n\r']* ]] ||
    fail "the path ${path@Q} has a # or a line break, which a run's config.ini cannot hold; name another folder"
  if [[ -z ${RNNSEARCH:-} ]]; then
    RNNSEARCH_BUILD=$(realpath -m -- "${RNNSEARCH_BUILD:-$project/build}") # absolute, because build.sh changes its folder
    export RNNSEARCH_BUILD
    "$project/pipelines/build.sh" --check
    "$project/pipelines/install.sh"
    "$project/pipelines/build.sh"
    RNNSEARCH=$RNNSEARCH_BUILD/rnnsearch
  fi
  export RNNSEARCH
  mkdir -p "$folder"
}

# in_rounds TITLE: if the pipeline's option --rounds is above 1, runs the pipeline once for each seed from 1 to --rounds, in the folders
# $folder/round-K, makes tables of the means of their scores.json, and ends the script.
in_rounds() {
  local round scores=() child=''
  ((rounds > 1)) || return 0
  # A round has a process group of its own: Ctrl-C ends all of it, and SIGTERM its script, which lets trainings write their checkpoints.
  trap '[[ -z $child ]] || { kill -TERM "$child" && wait "$child"; } 2>/dev/null; exit 85' TERM HUP
  trap '[[ -z $child ]] || { kill -INT -- "-$child" && wait "$child"; } 2>/dev/null; exit 85' INT
  for ((round = 1; round <= rounds; ++round)); do
    say "round $round of $rounds"
    set -m
    "$BASH" "$here/run.sh" "${given[@]}" --rounds 1 --folder "$folder/round-$round" -- "${extra[@]}" --seed "$round" </dev/null &
    child=$!
    set +m
    wait "$child"
    scores+=(--round "$folder/round-$round/scores.json")
    [[ -e ${scores[-1]} ]] || local waiting=yes # for jobs, with --launch slurm
  done
  [[ -z ${waiting:-} ]] || exit 0
  "$RNNSEARCH" report --title "$1: $rounds rounds" "${scores[@]}" --output "$folder/report.html" --csv "$folder/csv" \
    --markdown "$folder/rounds.md"
  awk '/^\*\*/ && tables++ {exit} {print}' <"$folder/rounds.md" # the table of the means
  say "results are in $folder: report.html, rounds.md, csv/, and the rounds"
  exit 0
}

# made_with FILE TEXT: writes TEXT, the settings of the results beside FILE, to FILE; fails if FILE has others, which must not be mixed
made_with() {
  if [[ -s $1 ]]; then
    [[ $(<"$1") == "$2" ]] || fail "${1%?made-with} was made with $(<"$1"), not with $2; give another --folder"
  fi
  echo "$2" >"$1"
}

# find_text MADE [source|target]: finds the parts of $text, by default Debian's package descriptions, and holds out missing ones,
# stratified by the length of that side [source]. MADE lists what else the folder's results depend on. A folder with results of other settings or another text is rejected.
find_text() {
  local part made="$1, texts of" first=$source second=$target
  part_of() { # NAME: prints the prefix under which both sides of this part exist, or nothing
    local prefix
    for prefix in "$text/$1" "$text.$1" "$text$1"; do
      [[ ! -e $prefix.$source || ! -e $prefix.$target ]] || { echo "$prefix" && return; }
    done
  }
  if [[ -z $text ]]; then
    text=$folder/text
    "$project/data/debian.sh" "$source" "$target" "$text"
  fi
  train=$(part_of train) dev=$(part_of dev) test=$(part_of test)
  if [[ -z $train && -e $text.$source && -e $text.$target ]]; then train=$text; fi
  [[ -n $train ]] || fail "no parallel text $text: neither $text.$source and $text.$target nor $text/train.$source and" \
    "$text/train.$target exist"
  for part in "$train" ${dev:+"$dev"} ${test:+"$test"}; do
    made+=" $(stat -Lc %s "$part.$source" "$part.$target" | paste -sd ' ')"
  done
  made_with "$folder/made-with" "$made bytes"
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

# prepare CORPUS LENGTH OPTIONS...: makes a corpus of sentences of at most LENGTH words, with the test set test/test.
test_set() { echo "$1:${2//:/\\:}:${3//:/\\:}"; } # NAME SOURCE REFERENCE: prints the value of --test
prepare() {
  [[ ! -e $1 ]] || return 0
  say "preparing the corpus of sentences of at most $2 words"
  "$RNNSEARCH" prepare --source-language "$source" --target-language "$target" --train-source "$train.$source" \
    --train-target "$train.$target" --dev-source "$dev.$source" --dev-target "$dev.$target" \
    --test "$(test_set test "$test.$source" "$test.$target")" --max-length "$2" --output "$1" "${@:3}"
}

# train_systems SYSTEM...: trains the systems in this order, each in the folder $(run_of SYSTEM). The pipeline's options_of SYSTEM sets
# `options` to the options of rnnsearch train without --run. With --launch slurm the function returns if all jobs are done, and
# otherwise ends the script.
run_of() { echo "$folder/${1,,}"; }
training_of() {
  options_of "$1"
  options+=(--run "$(run_of "$1")" "${extra[@]}")
}
launcher_of_ranks() { # prints the words of the command that starts a program on --ranks ranks, one a line
  local words=(mpirun -n "$ranks" --bind-to none)
  (($(nproc) >= ranks)) || words+=(--oversubscribe -x RNNSEARCH_OVERSUBSCRIBE=1)
  [[ $(id -u) != 0 ]] || words+=(--allow-run-as-root)
  [[ -z ${LAUNCHER:-} ]] || read -rd '' -a words <<<"$LAUNCHER" || true
  printf '%s\n' "${words[@]}"
}
stop_trainings() { # SIGNAL
  trap '' TERM INT HUP
  say "stopping; the trainings write their checkpoints"
  local running
  read -rd '' -a running <<<"$(jobs -rp)" || true
  kill -s "$1" "${running[@]}" 2>/dev/null || true
  wait
  exit 85
}
# finish_trainings FAILED PROCESS...: waits for the processes; ends the script if one of them fails or FAILED, the exit code of an
# earlier one, is not empty
finish_trainings() {
  local failed=$1 job why advice="run the same command again to resume"
  for job in "${@:2}"; do
    wait "$job" || failed=$?
  done
  trap - TERM INT HUP
  [[ -n $failed ]] || return 0
  why=$(find "$folder" -name '*.out' -exec tail -qn 1 {} + | tr '\r' '\n' | grep '^rnnsearch' | tail -1) || true
  [[ $failed != 2 ]] || advice="correct the options of the training first"
  fail "a training ended before it was done: $why; $advice"
}
train_here() {
  local threads=$(($(nproc) / at_once)) system failed='' started=()
  ((threads > 0)) || threads=1
  trap 'stop_trainings TERM' TERM INT HUP
  for system; do
    training_of "$system"
    while (($(jobs -rp | wc -l) >= at_once)); do wait -n || failed=$?; done
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
  # The training runs in the background because bash handles no signal during a foreground command. The signal is USR1 because mpirun
  # and srun pass it on, whereas TERM would make them end the ranks.
  trap 'stop_trainings USR1' TERM INT HUP
  for system; do
    training_of "$system"
    say "training $system"
    setsid "${launcher[@]}" "$RNNSEARCH" train "${options[@]}" & # Ctrl-C would make mpirun end its ranks at once
    wait $!
  done
  trap - TERM INT HUP
}
# in_queue JOB...: whether one of these jobs (12, or 12_3 of an array) waits or runs. SLURM forgets old jobs and then calls their numbers
# invalid. If it gives no answer, the script ends, because a training that is in the queue must not be submitted again.
in_queue() {
  local numbers found
  numbers=$(printf '%s\n' "${@%%_*}" | sort -u | paste -sd,)
  found=$(squeue -h -o %i -j "$numbers" 2>&1) || [[ $found == *"Invalid job id"* ]] ||
    fail "squeue does not say whether the jobs $numbers are in the queue: ${found:-it printed nothing}; run the same command again"
  [[ -n $found && $found != *"Invalid job id"* ]]
}
submit_trainings() {
  local system run job jobs queued waiting=
  for system; do
    training_of "$system"
    run=$(run_of "$system")
    queued=
    # The queue is asked before the mark is looked for: a training that ends between the two questions then counts as done.
    if [[ -s $run.jobs/jobs ]]; then
      mapfile -t jobs <"$run.jobs/jobs"
      if in_queue "${jobs[@]}"; then queued=yes; fi
    fi
    if [[ -e $run.jobs/done ]]; then continue; fi
    waiting=yes
    if [[ -n $queued ]]; then
      say "$system is in the queue: jobs $(paste -sd ' ' "$run.jobs/jobs")"
    else
      job=$(LOGS=$folder/logs "$project/cluster/submit" ${chain:+--chain "$chain"} train "${options[@]}" | paste -sd ' ') # if submit fails, the script ends here
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

# is_done RUN UPDATES: whether this run has ended after as many updates
is_done() {
  [[ -s $1/checkpoints/latest && -s $1/log.jsonl ]] &&
    grep '"event":"stop"' "$1/log.jsonl" | tail -n 1 | grep -q "\"update\":$2,"
}

# checkpoint_of SYSTEM: prints the path of its best checkpoint, or of its latest if it has not validated.
checkpoint_of() {
  local pointer
  pointer=$(run_of "$1")/checkpoints/best
  [[ -e $pointer ]] || pointer=${pointer%best}latest
  echo "${pointer%/*}/$(<"$pointer")"
}

# translate SYSTEM OUTPUT OPTIONS...: translates the test set with the best checkpoint of SYSTEM, unless OUTPUT is newer than it.
# OPTIONS are options of rnnsearch translate, such as --normalize, which ranks hypotheses by log-probability divided by length.
# Call `translations_begin` first: it removes translations ($folder/test.*) made with another --beam or --retry-below.
translations_begin() {
  local search="$beam, retried below $retry_below"
  if [[ -s $folder/beam && $(<"$folder/beam") != "$search" ]]; then rm -f "$folder"/test.*."$target"{,.partial,.partial.json}; fi
  echo "$search" >"$folder/beam"
}
translate() {
  local launcher=()
  [[ ! $2 -nt $(checkpoint_of "$1") ]] || return 0
  [[ ! $2.partial -ot $(checkpoint_of "$1") ]] || rm -f "$2".partial{,.json} # of an earlier checkpoint
  say "translating with $1: $2"
  [[ $launch != mpirun ]] || mapfile -t launcher < <(launcher_of_ranks)
  "${launcher[@]}" "$RNNSEARCH" translate --model "$(run_of "$1")" --input "$test.$source" --output "$2" --beam "$beam" \
    --retry-below "$retry_below" "${@:3}"
}
translate_systems() { # SYSTEM...: translates with each, and sets `hypotheses` and `runs` to options of evaluate and report
  local system
  translations_begin
  hypotheses=() runs=()
  for system; do
    translate "$system" "$folder/test.${system,,}.$target" --normalize
    hypotheses+=(--hypotheses "$system=$folder/test.${system,,}.$target")
    runs+=(--run "$system=$(run_of "$system")")
  done
}

# score SYSTEM SOURCE TARGET OUTPUT: writes the log-probability that the best checkpoint of SYSTEM gives to each line of TARGET, unless
# OUTPUT is newer than that checkpoint.
score() {
  local launcher=()
  [[ ! $4 -nt $(checkpoint_of "$1") ]] || return 0
  say "scoring $3 with $1"
  [[ $launch != mpirun ]] || mapfile -t launcher < <(launcher_of_ranks)
  "${launcher[@]}" "$RNNSEARCH" score --model "$(run_of "$1")" --source "$2" --target "$3" >"$4.new"
  mv "$4.new" "$4"
}

# is_scored FILE: whether FILE, which a pipeline writes last when it scores, is newer than all translations.
is_scored() {
  local translation
  for translation in "$folder"/test.*."$target"; do [[ $1 -nt $translation ]] || return 1; done
}

# evaluate OUTPUT OPTIONS...: writes the output of rnnsearch evaluate to the file OUTPUT when it is complete.
evaluate() {
  "$RNNSEARCH" evaluate "${@:2}" >"$1.new"
  mv "$1.new" "$1"
}

# some_lines FILE: prints the numbers of four lines of 15 to 25 words, evenly spread over FILE, as a value of --lines.
some_lines() {
  local lines
  lines=$(awk 'NF >= 15 && NF <= 25 {line[n++] = NR} END {for (i = 0; i < 4 && i < n; ++i) print line[int(n * (i + 0.5) / 4)]}' \
    <"$1" | uniq | paste -sd,)
  echo "${lines:-1}" # 1 if no line has such a length
}

# align SYSTEM TRANSLATION LINES OUTPUT: writes the attention of SYSTEM for these lines of TRANSLATION as OUTPUT.json and as heat maps
# in the folder OUTPUT.
align() {
  rm -rf "$4"
  "$RNNSEARCH" align --model "$(run_of "$1")" --source "$test.$source" --target "$2" --lines "$3" --svg "$4" --json "$4.json.new"
  mv "$4.json.new" "$4.json"
}

# all_systems REPORT.md OUTPUT: copies the tables of rnnsearch report --markdown that compare all systems, and omits those that compare
# two systems.
all_systems() {
  sed '/^\*\*Difference/,$d' "$1" >"$2.new"
  mv "$2.new" "$2"
}
