#!/usr/bin/env bash
# The paper's experiment (arXiv 1409.0473): trains RNNsearch-50, RNNsearch-30, RNNencdec-50 and RNNencdec-30 on one text, and makes
# Table 1, Figure 2 and Figure 3 of it.
#   pipelines/paper/run.sh [OPTION VALUE]... [-- OPTIONS of rnnsearch train]
#     --scale small|paper    small: one machine, small.ini beside this file; paper: the paper's sizes (pipelines/presets) [small]
#     --text PREFIX          parallel text: PREFIX.en and PREFIX.fr, or PREFIX/train.en and PREFIX/train.fr (PREFIX.train.en will
#                            do, too) with dev.* and test.* beside them; what is not there is held out, stratified by length
#                            [small: Debian's package descriptions; paper: WMT'14]
#     --source L, --target L the endings of these names [en, fr]
#     --words N              words of each vocabulary [small: 10000; paper: 30000]
#     --beam N               of the translations [10]
#     --folder DIR           where everything goes [runs/paper-SCALE]
#     --launch local|mpirun|slurm
#                            of each training: a process of this machine; --ranks ranks; jobs of cluster/submit, which are
#                            submitted and left to themselves: when they are done, the same command makes tables and figures [local]
#     --at-once N            local: systems trained at the same time, sharing the CPUs; it changes no result [2]
#     --ranks N              mpirun: ranks. How ranks are placed is LAUNCHER's affair, as of cluster/site.sh [2]
#     --chain N              slurm: jobs of each training, for sites that forbid requeueing
# Every stage is skipped when its result is there, and trainings go on where they stopped: interrupt it and run it again.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../.." && pwd)

say() { echo "[paper] $*"; }
fail() {
  echo "paper: $*" >&2
  exit 1
}
scale=small text= source=en target=fr words= beam=10 folder= launch=local at_once=2 ranks=2 chain=
extra=()
while (($# > 0)); do
  case $1 in
    --help) sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
    --) shift && extra=("$@") && break ;;
    --scale | --text | --source | --target | --words | --beam | --folder | --launch | --at-once | --ranks | --chain) ;;
    *) fail "unknown option $1; see pipelines/paper/run.sh --help" ;;
  esac
  (($# >= 2)) || fail "$1 needs a value; see pipelines/paper/run.sh --help"
  name=${1#--}
  printf -v "${name//-/_}" %s "$2"
  shift 2
done
case $scale in small | paper) ;; *) fail "--scale is '$scale'; it must be small or paper" ;; esac
[[ $source != "$target" ]] || fail "--source and --target are both '$source'; name two"
case $launch in local | mpirun | slurm) ;; *) fail "--launch is '$launch'; it must be local, mpirun or slurm" ;; esac
for number in words beam at_once ranks chain; do
  [[ -z ${!number} && $number =~ words|chain || ${!number} =~ ^[1-9][0-9]*$ ]] ||
    fail "--${number//_/-} is '${!number}'; it must be a whole number from 1 on"
done
if [[ $scale == paper ]]; then : "${words:=30000}"; else : "${words:=10000}"; fi
folder=${folder:-runs/paper-$scale}

# --- the program ---------------------------------------------------------------------------------------------------------
if [[ -z ${RNNSEARCH:-} ]]; then
  export RNNSEARCH_BUILD=$(realpath -m "${RNNSEARCH_BUILD:-$project/build}") # of this folder, wherever build.sh goes
  "$project/pipelines/install.sh"
  "$project/pipelines/build.sh"
  RNNSEARCH=$RNNSEARCH_BUILD/rnnsearch
fi
export RNNSEARCH
mkdir -p "$folder"

# --- text ----------------------------------------------------------------------------------------------------------------
# `train`, `dev`, `test` become the prefixes of the three parts.
if [[ -z $text ]]; then
  text=$folder/text
  if [[ $scale == paper ]]; then
    [[ $source-$target == en-fr ]] || fail "the paper's text is English and French; for $source and $target give --text PREFIX"
    "$project/data/wmt14-en-fr.sh" "$text"
  else
    "$project/data/debian.sh" "$source" "$target" "$text"
  fi
fi
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
made="--scale $scale --source $source --target $target --words $words, texts of"
for part in "$train" ${dev:+"$dev"} ${test:+"$test"}; do
  made+=" $(stat -Lc %s "$part.$source" "$part.$target" | paste -sd ' ')"
done
made+=" bytes"
if [[ -s $folder/made-of ]]; then
  [[ $(<"$folder/made-of") == "$made" ]] ||
    fail "$folder was made with $(<"$folder/made-of"), and now it is $made; give another --folder"
fi
echo "$made" >"$folder/made-of"
held=()
[[ -n $test ]] || held+=(test=300)
[[ -n $dev ]] || held+=(dev=100)
if ((${#held[@]} > 0)); then
  if [[ ! -e $folder/held-out/complete ]]; then
    say "holding out ${held[*]} (pairs of each length) of $train"
    "$project/data/hold_out.pl" "$train.$source" "$train.$target" "$source" "$target" "$folder/held-out" "${held[@]}"
    touch "$folder/held-out/complete"
  fi
  train=$folder/held-out/train
  : "${test:=$folder/held-out/test}" "${dev:=$folder/held-out/dev}"
fi

# --- corpora -------------------------------------------------------------------------------------------------------------
# Sentences of at most 50 and at most 30 words (section 4.2), with the same vocabularies.
submit() { LOGS=$folder/logs "$project/cluster/submit" "$@"; }
prepare() { # WORDS OPTIONS...
  local corpus=$folder/corpus-$1.h5
  [[ ! -e $corpus ]] || return 0
  say "preparing the corpus of sentences of at most $1 words"
  "$RNNSEARCH" prepare --source-language "$source" --target-language "$target" --train-source "$train.$source" \
    --train-target "$train.$target" --dev-source "$dev.$source" --dev-target "$dev.$target" \
    --test "test:$test.$source:$test.$target" --max-length "$1" --output "$corpus" "${@:2}"
}
prepare 50 --source-words "$words" --target-words "$words"
prepare 30 --vocabulary-of "$folder/corpus-50.h5"

# --- training ------------------------------------------------------------------------------------------------------------
systems=(RNNsearch-50 RNNsearch-30 RNNencdec-50 RNNencdec-30) # the longest first
training_of() {                                               # SYSTEM: sets `run` and `options`
  local name=${1,,}
  run=$folder/$name
  options=(--corpus "$folder/corpus-${name#*-}.h5" --run "$run")
  if [[ $scale == paper ]]; then
    options+=(--preset "$name")
  else
    options+=(--config "$here/small.ini")
    [[ $name != rnnencdec-* ]] || options+=(--attention none)
  fi
  options+=("${extra[@]}")
}
launcher=(${LAUNCHER:-mpirun -n $ranks --bind-to none}) # of --launch mpirun
[[ -n ${LAUNCHER:-} || $(id -u) != 0 ]] || launcher+=(--allow-run-as-root)
jobs_of_training=()
stop_signal=TERM
stop_all() {
  trap '' TERM INT
  say "stopping; the trainings write their checkpoints"
  kill -s "$stop_signal" $(jobs -rp) 2>/dev/null || true
  wait
  exit 85
}
train_here() {
  local threads=$(($(nproc) / at_once)) system job failed=
  ((threads > 0)) || threads=1
  trap stop_all TERM INT
  for system in "${systems[@]}"; do
    training_of "$system"
    while (($(jobs -rp | wc -l) >= at_once)); do wait -n || failed=yes; done
    [[ -z $failed ]] || break
    say "training $system; its log is $folder/${system,,}.out"
    "$RNNSEARCH" train "${options[@]}" --threads "$threads" >>"$run.out" 2>&1 &
    jobs_of_training+=($!)
  done
  for job in "${jobs_of_training[@]}"; do
    wait "$job" || failed=yes
  done
  trap - TERM INT
  [[ -z $failed ]] || fail "a training ended before it was done: $(tail -qn 1 "$folder"/*.out | tr '\r' '\n' | grep '^rnnsearch' | tail -1); run this again to go on"
}
train_on_ranks() {
  local system
  # Bash takes no signal while it waits for a command before it; and mpirun and srun pass USR1 on, but end the ranks at TERM.
  stop_signal=USR1
  trap stop_all TERM INT
  for system in "${systems[@]}"; do
    training_of "$system"
    say "training $system"
    "${launcher[@]}" "$RNNSEARCH" train "${options[@]}" &
    wait $!
  done
  trap - TERM INT
}
submit_trainings() {
  local system job waiting=
  for system in "${systems[@]}"; do
    training_of "$system"
    if [[ -e $run.jobs/done ]]; then continue; fi
    waiting=yes
    if [[ -s $run.jobs/jobs ]] && [[ -n $(squeue -h -o %i -j "$(sed 's/_.*//' "$run.jobs/jobs" | paste -sd,)" 2>/dev/null) ]]; then
      say "$system is in the queue: jobs $(paste -sd ' ' "$run.jobs/jobs")"
    else
      job=$(submit ${chain:+--chain "$chain"} train "${options[@]}" | paste -sd ' ') # a failure ends all here
      say "$system: job $job"
    fi
  done
  [[ -z $waiting ]] || { say "run the same command again when these are done" && exit 0; }
}
case $launch in
  local) train_here ;;
  mpirun) train_on_ranks ;;
  slurm) submit_trainings ;;
esac

# --- translations: Table 1's "All", and "No UNK", where no unknown word may be produced -----------------------------------
if [[ -s $folder/beam && $(<"$folder/beam") != "$beam" ]]; then rm -f "$folder"/test.rnn*."$target"; fi # of another beam
echo "$beam" >"$folder/beam"
translate() { # SYSTEM OUTPUT OPTIONS...
  local run=$folder/${1,,} output=$2
  local pointer=$run/checkpoints/best
  [[ -e $pointer ]] || pointer=$run/checkpoints/latest # it never validated
  [[ ! $output -nt $run/checkpoints/$(<"$pointer") ]] || return 0
  say "translating with $1: $output"
  local ranks_of=()
  [[ $launch != mpirun ]] || ranks_of=("${launcher[@]}")
  "${ranks_of[@]}" "$RNNSEARCH" translate --model "$run" --input "$test.$source" --output "$output" --beam "$beam" --normalize \
    "${@:3}"
}
paper_order=(RNNencdec-30 RNNsearch-30 RNNencdec-50 RNNsearch-50)
all=() known=()
for system in "${paper_order[@]}"; do
  translate "$system" "$folder/test.${system,,}.$target"
  translate "$system" "$folder/test.${system,,}.no-unk.$target" --no-unknown
  all+=(--hypotheses "$system=$folder/test.${system,,}.$target")
  known+=(--hypotheses "$system=$folder/test.${system,,}.no-unk.$target")
done

# --- Table 1 and Figure 2: BLEU of each system by length, and against RNNsearch-50 ----------------------------------------
scored=(--corpus "$folder/corpus-50.h5" --set test/test)
evaluate() { # OUTPUT OPTIONS...
  "$RNNSEARCH" evaluate "${@:2}" >"$1.new"
  mv "$1.new" "$1"
}
newest=$(ls -t "$folder"/test.*."$target" | head -1)
if [[ ! $folder/figure3.json -nt $newest ]]; then
  say "scores"
  compared=(--significance randomization --baseline RNNsearch-50)
  evaluate "$folder/scores.txt" "${all[@]}" "${scored[@]}" "${compared[@]}" --chrf true --ter true
  evaluate "$folder/scores.json" "${all[@]}" "${scored[@]}" "${compared[@]}" --chrf true --ter true --sentences true \
    --breakdown frequency --json
  evaluate "$folder/scores.no-unk.json" "${known[@]}" "${scored[@]}" --json
  perl "$here/table1.pl" "$folder/scores.json" "$folder/scores.no-unk.json" >"$folder/table1.md"

  # --- Figure 3: what RNNsearch-50 looked at. Four sentences of 15 to 25 words, spread over the test set, nobody's choice.
  lines=$(awk 'NF >= 15 && NF <= 25 {line[n++] = NR} END {for (i = 0; i < 4 && i < n; ++i) print line[int(n * (i + 0.5) / 4)]}' \
    <"$test.$source" | uniq | paste -sd,)
  [[ -n $lines ]] || lines=1 # a text of short sentences
  rm -rf "$folder/figure3"
  "$RNNSEARCH" align --model "$folder/rnnsearch-50" --source "$test.$source" --target "$folder/test.rnnsearch-50.no-unk.$target" \
    --lines "$lines" --svg "$folder/figure3" --json "$folder/figure3.json.new"
  mv "$folder/figure3.json.new" "$folder/figure3.json"
fi
pages=()
for system in "${paper_order[@]}"; do pages+=(--run "$system=$folder/${system,,}"); done
"$RNNSEARCH" report --title "Neural machine translation by jointly learning to align and translate: $source to $target" \
  "${pages[@]}" --evaluation "$folder/scores.json" --alignment "$folder/figure3.json" --output "$folder/report.html" \
  --csv "$folder/csv" --markdown "$folder/report.md"

say "Table 1"
cat "$folder/table1.md"
say "Figure 2, as numbers"
cat "$folder/scores.txt"
say "everything lies in $folder: report.html and report.md, table1.md, scores.txt, figure3/, csv/, and the four runs"
