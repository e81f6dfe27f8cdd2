#!/usr/bin/env bash
# The exit codes of every command are the same on one rank and on two: 2 for a wrong command line, 1 for any other error. (85 is in
# stop_test.sh.) Errors, help and version are printed once, however many ranks there are.
set -euo pipefail
: "${MPIEXEC:=mpirun}" # the launcher
export OMPI_MCA_odls_base_sigkill_timeout=0 # otherwise mpirun waits a second whenever a rank ends with an error
fail() {
  echo "$*"
  exit 1
}
mapfile -t commands < <("$RNNSEARCH" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
((${#commands[@]} > 9)) || fail "rnnsearch --help lists only ${commands[*]}"

# run RANKS ARGUMENTS...: sets `status`; standard output goes to the file out, standard error to err
run() {
  local start=()
  (($1 == 1)) || start=("$MPIEXEC" -n "$1")
  status=0
  timeout 400 "${start[@]}" "$RNNSEARCH" "${@:2}" >out 2>err </dev/null || status=$?
}
# expect CODE TEXT RANKS ARGUMENTS...: exits with CODE, and says TEXT in one sentence
expect() {
  local code=$1 text=$2 ranks=$3 said
  shift 3
  run "$ranks" "$@"
  said=$(grep '^rnnsearch' err || true)
  [[ $status == "$code" ]] || fail "$ranks ranks, $*: exit code $status, not $code: $(<out) $(<err)"
  [[ $said == *"$text"* && $(wc -l <<<"$said") == 1 && ! -s out ]] || fail "$ranks ranks, $*: $(<out) $(<err)"
}
for ranks in 1 2; do
  expect 2 "unknown command 'tarin'" $ranks tarin
  run $ranks
  [[ $status == 2 && $(grep -c '^rnnsearch COMMAND \[' err) == 1 ]] || fail "$ranks ranks, no command: code $status, $(<err)"
  for words in --help --version "train --help" "average --help"; do
    read -ra arguments <<<"$words"
    run $ranks "${arguments[@]}"
    [[ $status == 0 && $(grep -cxF "$(head -n 1 out)" out) == 1 ]] || fail "$ranks ranks, $words: code $status, $(<out)"
  done
done

declare -A without=( # what a command line without options lacks
  [prepare]="--output is missing" [train]="--corpus is missing" [translate]="--model is missing" [score]="--model is missing"
  [evaluate]="nothing to score" [align]="--model is missing" [report]="nothing to" [average]="--output is missing"
  [inspect]="--file is missing" [rescore]="--list is missing"
)
declare -A missing=( # a command line that names a file that does not exist
  [prepare]="--train-tsv nowhere --output x.h5" [train]="--corpus nowhere --run run" [translate]="--model nowhere"
  [score]="--model nowhere --source nowhere --target nowhere" [evaluate]="--hypotheses nowhere --references nowhere"
  [align]="--model nowhere --source nowhere" [report]="--run nowhere --output x.html"
  [average]="--run nowhere --last 2 --output x.h5" [inspect]=nowhere [benchmark]="--corpus nowhere"
  [rescore]="--list nowhere --weight F=1"
)
for command in "${commands[@]}"; do
  for ranks in 1 2; do
    if [[ $ranks == 2 && $command =~ ^(report|average|inspect)$ ]]; then
      expect 2 "was started in 2 processes, and is for one" 2 "$command" --output x
      continue
    fi
    expect 2 "unknown option '--ouptut'" $ranks "$command" --ouptut
    [[ -z ${without[$command]:-} ]] || expect 2 "${without[$command]}" $ranks "$command"
    read -ra arguments <<<"${missing[$command]:-}"
    [[ -z ${missing[$command]:-} ]] || expect 1 nowhere $ranks "$command" "${arguments[@]}"
  done
done
# What a check of several values refuses.
for ranks in 1 2; do
  expect 2 "best-metric is bleu but" $ranks train --corpus c.h5 --run run --best-metric bleu --validate-bleu=false
  expect 2 "source-words is 10 and target-words 12" $ranks prepare --train-tsv pairs --output x.h5 --joint-vocabulary \
    --source-words 10 --target-words 12
done
expect 2 "--every is for --follow" 1 report --run nowhere --terminal --every 5
expect 2 "--chart-of is for --chart" 1 report --run nowhere --terminal --chart-of BLEU
expect 2 "one process" 2 prepare --merge a.h5 --merge b.h5 --output x.h5
# Whichever rank is misused, all leave with the same code and one sentence.
echo 'beam = many' >wrong.ini
for ranks in 2 3; do
  while IFS='|' read -r code text words; do
    read -ra arguments <<<"$words"
    launch=("$MPIEXEC" -n 1 "$RNNSEARCH" translate --model nowhere : -n $((ranks - 1)) "${arguments[@]/#rnnsearch/$RNNSEARCH}")
    status=0
    timeout 400 "${launch[@]}" >out 2>err </dev/null || status=$?
    said=$(grep '^rnnsearch' err || true)
    [[ $status == "$code" && $said == *"$text"* && $(wc -l <<<"$said") == 1 && ! -s out ]] ||
      fail "${launch[*]}: exit code $status, not $code: $(<out) $(<err)"
  done <<END
2|--beam is 'x'|rnnsearch translate --model nowhere --beam x
2|beam|rnnsearch translate --model nowhere --config wrong.ini
2|unknown option '--beem'|rnnsearch translate --model nowhere --beem 3
2|unknown command 'transalte'|rnnsearch transalte
2|no command was given|rnnsearch
2|RNNSEARCH_OVERSUBSCRIBE is 'maybe'|env RNNSEARCH_OVERSUBSCRIBE=maybe rnnsearch translate --model nowhere
2|RNNSEARCH_START_TIMEOUT is 'soon'|env RNNSEARCH_START_TIMEOUT=soon rnnsearch translate --model nowhere
2|RNNSEARCH_SIMD is 'mmx'|env RNNSEARCH_SIMD=mmx rnnsearch translate --model nowhere
1|nowhere|env RNNSEARCH_START_TIMEOUT= RNNSEARCH_OVERSUBSCRIBE=1 RNNSEARCH_SIMD= RNNSEARCH_END_TIME= rnnsearch translate --model nowhere
1|nowhere.ini|rnnsearch translate --model nowhere --config nowhere.ini
1|cannot read|rnnsearch translate --model nowhere --config /proc/self/mem
END
done
# An error of the system says what could not be done. Root is exempt from the limit of processes.
if ((EUID == 0)) && type setpriv prlimit >/dev/null; then
  limited=$(mktemp -d)
  chmod 777 "$limited"
  cp "$RNNSEARCH" "$limited/rnnsearch"
  printf 'a b\n' >"$limited/text"
  for words in "prepare --train-source text --train-target text --tokenizer none --output x.h5 --threads 4" \
    "benchmark --embedding 8 --state 8 --alignment 8 --maxout 8 --updates 1 --untimed-updates 1 --machine false --threads 4"; do
    read -ra arguments <<<"$words"
    status=0
    (cd "$limited" && setpriv --reuid 54321 --regid 54321 --clear-groups prlimit --nproc=1 ./rnnsearch "${arguments[@]}") >out 2>err ||
      status=$?
    { [[ $status == 1 ]] && grep -q '^rnnsearch [a-z]*: cannot start a thread: .*ulimit -u' err; } ||
      fail "$words, with one process: code $status: $(<err)"
  done
  rm -r "$limited"
fi
# Of three processes of which MPI knows nothing, each speaks for itself: none can know whether another one does.
export FLUX_JOB_SIZE=3
for command in prepare inspect train; do
  for rank in 0 1; do
    FLUX_TASK_RANK=$rank expect 1 "FLUX_JOB_SIZE says that a launcher started 3 processes" 1 $command --output x.h5
  done
done
[[ ! -e x.h5 && ! -e x.html && ! -e x.json && ! -e run ]] || fail "something was written"
