#!/usr/bin/env bash
# The replication of Bahdanau, Cho and Bengio (2015) and its ablations on their own task, the primes of a sequence of numbers: trains
# every system on sequences of up to each length, in rounds with new initial weights and data, and scores it by PSA, LCSR and GeoMean.
#   pipelines/replication/run.sh [OPTION VALUE]... [-- OPTIONS of rnnsearch train]
#     --protocol source|ours  source: train as the source does (pipelines/presets/replication*.ini); ours: train with the settings of
#                             ours.ini beside this file, on sequences that grow (data/primes.pl ... growing); the test sequences are
#                             the same [source]
#     --lengths N,N,...       greatest lengths of the sequences; each is a task of its own [10,60,110,160,210,260,310]
#     --systems NAME,...      full, and the ablations a (the decoder's state begins at zero), b (the readout sees only the state),
#                             c (nothing sees the previous word), d (the state sees only itself) [full,a,b,c,d]
#     --rounds N              number of rounds of each system; round K has seed K [3]
#     --updates M             number of updates of each round, each of 32 new sequences [5000; ours: 60000]
#     --test N                number of test sequences of each round [3.2 for each update, as in the source's sweep; ours: 2000]
#     --folder DIR            folder for all results [runs/replication-PROTOCOL]
#     --beside DIR            folder with results of the other protocol, to be shown in the chart, too
#     --at-once N             number of trainings at the same time, of one thread each [number of CPUs]
# The ten rounds that the source prints:  run.sh --lengths 30 --systems full,a --rounds 10 --updates 2000 --test 6400
# Existing results are kept, and interrupted trainings resume: stop the script and run it again. A later call with the same folder may
# add lengths, systems and rounds.
set -euo pipefail
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
pipeline=replication
source "$here/../experiment.sh"
protocol=source lengths=10,60,110,160,210,260,310 systems=full,a,b,c,d rounds=3 updates='' test='' folder='' beside='' at_once=''
parse_options "protocol lengths systems rounds updates test folder beside at-once" "$@"
case $protocol in source | ours) ;; *) fail "--protocol is '$protocol'; it must be source or ours" ;; esac
no_option folder beside
[[ $protocol == source ]] || : "${updates:=60000}" "${test:=2000}"
: "${updates:=5000}"
whole_numbers rounds updates ${test:+test} ${at_once:+at_once}
: "${folder:=runs/replication-$protocol}" "${test:=$((updates * 32 / 10))}"
IFS=, read -ra all_lengths <<<"$lengths"
IFS=, read -ra all_systems <<<"$systems"
for length in "${all_lengths[@]}"; do
  [[ $length =~ ^[1-9][0-9]*$ ]] || fail "--lengths: '$length' is no whole number from 1 on"
done
for system in "${all_systems[@]}"; do
  [[ $system =~ ^(full|a|b|c|d)$ ]] || fail "--systems: there is no system '$system'; there are full, a, b, c and d"
done

begin

options_of() { # SYSTEM: sets `options`
  options=(--preset "replication$([[ $1 == full ]] || echo "-$1")")
  [[ $protocol == source ]] || options+=(--config "$here/ours.ini")
  options+=(--max-updates "$updates" --precision f32 --checkpoint-every 0 "${extra[@]}")
}
# A folder holds results of one protocol and one set of options.
settings=("$project"/pipelines/presets/replication*.ini)
[[ $protocol == source ]] || settings+=("$here/ours.ini")
made_with "$folder/made-with" "--protocol $protocol --updates $updates --test $test, options '${extra[*]}', settings $(
  grep -hv '^#' "${settings[@]}" | cksum)"

of_round() { echo "$folder/length-$1/round-$2"; } # LENGTH ROUND
# task LENGTH ROUND: makes the corpus of a round and its test sequences, which all systems share. Every pair is used once. Both sides
# have the same vocabulary, because the source's readout can produce all numbers.
task() {
  local at part
  at=$(of_round "$1" "$2")
  [[ ! -e $at/corpus.h5 ]] || return 0
  mkdir -p "$at"
  "$project/data/primes.pl" "$at/train" "$((updates * 32))" "$1" "$2" "$([[ $protocol == source ]] && echo even || echo growing)"
  "$project/data/primes.pl" "$at/test" "$test" "$1" "$((1000000 + $2))"
  "$RNNSEARCH" prepare --tokenizer none --source-language numbers --target-language primes --joint-vocabulary true \
    --keep-empty-targets true --max-length "$1" --train-source "$at/train.source" --train-target "$at/train.target" \
    --output "$at/corpus.h5" --threads 1 >"$at/prepare.out"
  rm "$at"/train.*
}

# --- training ------------------------------------------------------------------------------------------------------------
# round_of LENGTH ROUND SYSTEM: trains, translates and scores. Search is greedy, as in the source. Its metrics cut an output to the
# reference's length, and no target is longer than its source, so a maximum length ratio of 1 is enough.
round_of() {
  local run at child=
  # This runs in a process of its own, which passes TERM on to the training, which then writes a checkpoint.
  trap '[[ -z $child ]] || kill -TERM "$child" 2>/dev/null; wait; exit 85' TERM
  waited_for() { # runs a command in the background, because bash handles no signal during a foreground command
    "$@" &
    child=$!
    wait "$child"
  }
  at=$(of_round "$1" "$2") run=$at/$3
  options_of "$3"
  is_done "$run" "$updates" || waited_for "$RNNSEARCH" train "${options[@]}" --corpus "$at/corpus.h5" --seed "$2" --run "$run" --threads 1
  waited_for "$RNNSEARCH" translate --model "$run/checkpoints/$(<"$run/checkpoints/latest")" --input "$at/test.source" --output "$run.test" \
    --beam 1 --minimum-length-ratio 0 --maximum-length-ratio 1 --retry-below 0 --threads 1 --precision f32
  waited_for "$RNNSEARCH" evaluate --hypotheses "$3=$run.test" --references "$at/test.target" --sequence-accuracy cut --tokenizer none \
    --bootstrap 0 --threads 1 >"$run.new"
  mv "$run.new" "$run.scores"
}
train_rounds() {
  local system length round failed='' started=()
  : "${at_once:=$(nproc)}"
  trap 'stop_trainings TERM' TERM INT
  for ((round = 1; round <= rounds; ++round)); do
    for length in "${all_lengths[@]}"; do
      for system in "${all_systems[@]}"; do
        [[ ! -s $(of_round "$length" "$round")/$system.scores ]] || continue
        while (($(jobs -rp | wc -l) >= at_once)); do wait -n || failed=$?; done
        [[ -z $failed ]] || break 3
        task "$length" "$round"
        say "training $system, sequences of up to $length, round $round"
        round_of "$length" "$round" "$system" >>"$(of_round "$length" "$round")/$system.out" 2>&1 &
        started+=($!)
      done
    done
  done
  finish_trainings "$failed" "${started[@]}"
}
train_rounds

# --- tables and chart ----------------------------------------------------------------------------------------------------
name_of() { [[ $1 == source ]] && echo "ours, the source's protocol" || echo "ours, our protocol"; } # PROTOCOL
another=ours
[[ $protocol == source ]] || another=source
"$here/tables.pl" "$(name_of "$protocol")=$folder" "$updates" "$rounds" "$lengths" "$systems" \
  ${beside:+"$(name_of "$another")=$beside"}
"$RNNSEARCH" report --chart "$folder/chart.tsv" --chart-of GeoMean --svg "$folder/chart.svg" \
  --title "The full model's median GeoMean"
cat "$folder/rounds.md" "$folder/medians.md"
say "results are in $folder: rounds.md, medians.md, chart.svg, chart.tsv, and the rounds in length-L/round-K"
