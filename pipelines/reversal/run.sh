#!/usr/bin/env bash
# Reversing sequences, in rounds: trains every system N times from new initial weights, M updates each, and scores it on unseen
# sequences by PSA, LCSR and GeoMean (evaluate --sequence-accuracy whole). The exit code is 1 when a system that must learn the task did
# not learn it in some round.
#   pipelines/reversal/run.sh [OPTION VALUE]... [-- OPTIONS of rnnsearch train]
#     --systems 'NAME...'   systems to train, from the list in systems.sh beside this file [all]
#     --rounds N            number of rounds of each system; round K has seed K [10]
#     --updates M           number of updates of each round [2000]
#     --max-length L        length of the longest sequence [15]
#     --folder DIR          folder for all results [runs/reversal]
#     --launch local|slurm  local: each training is a process of one thread on this machine; slurm: each system is a job array of its
#                           rounds (cluster/submit), after which the script ends: run the same command again when the jobs are done
#                           [local]
#     --at-once N           local: number of trainings at the same time [number of CPUs]; slurm: number of tasks of an array that may
#                           run at the same time [all]
# Finished rounds are skipped, and interrupted trainings resume: stop the script and run it again. A later call may add rounds.
set -euo pipefail
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
pipeline=reversal
source "$here/../experiment.sh"
systems='' rounds=10 updates=2000 max_length=15 folder=runs/reversal at_once=''
parse_options "systems rounds updates max-length folder launch at-once" "$@"
no_option folder
case $launch in local | slurm) ;; *) fail "--launch is '$launch'; it must be local or slurm" ;; esac
whole_numbers rounds updates max_length ${at_once:+at_once}
source "$here/systems.sh" # options_of, all_systems, must_learn
for system in ${systems:=$all_systems}; do
  [[ " $all_systems " == *" $system "* ]] || fail "--systems: there is no system '$system'; there are $all_systems"
done

# --- the program, the task -----------------------------------------------------------------------------------------------
begin

made_with "$folder/task.made-with" "--max-length $max_length --updates $updates"
"$project/data/reversal.sh" "$folder/text" --max-length "$max_length"
corpus=$folder/corpus.h5
if [[ ! -e $corpus ]]; then
  "$RNNSEARCH" prepare --tokenizer none --source-language forward --target-language backward \
    --train-source "$folder/text/train.source" --train-target "$folder/text/train.target" \
    --dev-source "$folder/text/dev.source" --dev-target "$folder/text/dev.target" \
    --test "$(test_set reversal "$folder/text/test.source" "$folder/text/test.target")" --output "$corpus"
fi

# --- training ------------------------------------------------------------------------------------------------------------
run_of_round() { # SYSTEM ROUND: prints the folder that cluster/submit --seeds also uses
  echo "$folder/$1-seed-$2"
}
options_of_rounds() { # SYSTEM: sets `options` to all options but --run and --seed
  local system=$1 word of_files=
  options_of "$system" # sets `options`
  for word in "${options[@]}"; do
    [[ ! -e $project/pipelines/presets/$word.ini ]] || word=$project/pipelines/presets/$word.ini
    [[ ! -e $word ]] || of_files+=" ($(basename "$word"): $(cksum <"$word"))"
  done
  options+=(--max-updates "$updates" "${extra[@]}")
  made_with "$folder/$system.made-with" "${options[*]}$of_files"
  options+=(--corpus "$corpus")
}
train_rounds() {
  local system round run failed='' started=()
  : "${at_once:=$(nproc)}"
  trap 'stop_trainings TERM' TERM INT
  for ((round = 1; round <= rounds; ++round)); do
    for system in $systems; do
      run=$(run_of_round "$system" "$round")
      options_of_rounds "$system"
      ! is_done "$run" "$updates" || continue
      while (($(jobs -rp | wc -l) >= at_once)); do wait -n || failed=$?; done
      [[ -z $failed ]] || break 2
      say "training $system, round $round"
      "$RNNSEARCH" train "${options[@]}" --seed "$round" --run "$run" --threads 1 >>"$run.out" 2>&1 &
      started+=($!)
    done
  done
  finish_trainings "$failed" "${started[@]}"
}
submit_rounds() {
  local system round run job waiting='' left queued jobs
  for system in $systems; do
    options_of_rounds "$system"
    jobs=()
    for ((round = 1; round <= rounds; ++round)); do
      run=$(run_of_round "$system" "$round")
      [[ ! -s $run.jobs/jobs ]] || mapfile -tO ${#jobs[@]} jobs <"$run.jobs/jobs"
    done
    # As in experiment.sh, the queue is asked before the marks are looked for.
    queued='' left=''
    if ((${#jobs[@]} > 0)) && in_queue "${jobs[@]}"; then queued=yes; fi
    for ((round = 1; round <= rounds; ++round)); do
      [[ -e $(run_of_round "$system" "$round").jobs/done ]] || left+=${left:+,}$round
    done
    [[ -n $left ]] || continue
    waiting=yes
    if [[ -n $queued ]]; then
      say "$system, rounds $left: in the queue"
    else
      # One rank each, because a round is small, and because the result is then the same as on this machine.
      job=$("$project/cluster/submit" --nodes 1 --ranks-per-node 1 --cpus-per-rank 1 --seeds "$left" ${at_once:+--at-once "$at_once"} train "${options[@]}" --run "$folder/$system" |
        paste -sd ' ') # if submit fails, the script ends here
      say "$system, rounds $left: job $job"
    fi
  done
  [[ -z $waiting ]] || { say "run the same command again when these are done" && exit 0; }
}
case $launch in
  local) train_rounds ;;
  slurm) submit_rounds ;;
esac

# --- scores --------------------------------------------------------------------------------------------------------------
# The parameters after the last update are scored, not those of the best validation.
made=()
for ((round = 1; round <= rounds; ++round)); do
  scored=()
  for system in $systems; do
    run=$(run_of_round "$system" "$round")
    checkpoint=$run/checkpoints/$(<"$run/checkpoints/latest")
    if [[ ! $run.test -nt $checkpoint ]]; then
      # Greedy search without retries: an output that does not end is scored as it is.
      "$RNNSEARCH" translate --model "$checkpoint" --input "$folder/text/test.source" --output "$run.test" --beam 1 \
        --retry-below 0
    fi
    scored+=(--hypotheses "$system=$run.test")
  done
  "$RNNSEARCH" evaluate "${scored[@]}" --corpus "$corpus" --set test/reversal --sequence-accuracy whole --tokenizer none \
    --edges 5,10 --json - >"$folder/round-$round.json.new"
  mv "$folder/round-$round.json.new" "$folder/round-$round.json"
  made+=(--round "$folder/round-$round.json")
done
runs=()
for system in $systems; do runs+=(--run "$system=$(run_of_round "$system" 1)"); done
"$RNNSEARCH" report --title "Reversing sequences of up to $max_length words: $rounds rounds of $updates updates" "${made[@]}" "${runs[@]}" \
  --output "$folder/report.html" --csv "$folder/csv" --markdown "$folder/rounds.md"

# --- the check -----------------------------------------------------------------------------------------------------------
awk '/^\*\*/ && tables++ {exit} {print}' <"$folder/rounds.md" # the table of the means
say "results are in $folder: report.html, rounds.md, csv/, the runs and their outputs for the test sequences (*.test)"
low=$(tr -d '\r' <"$folder/csv/rounds.csv" | awk -F, -v must=" $must_learn " -v required="$required" '
  # from the end, because the second column is a path
  $(NF - 1) == "PSA" && index(must, " " $(NF - 2) " ") && $NF <= required {
    printf "%s%s, round %d: %.2f%%", n++ ? "; " : "", $(NF - 2), $1, $NF
  }')
[[ -z $low ]] || fail "PSA must be above $required% in every round, but is not: $low"
