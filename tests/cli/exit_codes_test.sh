#!/usr/bin/env bash
# The exit codes of every command are the same on one rank and on two: 2 for a wrong command line, 1 for any other error. (85 is in
# stop_test.sh, and what command lines are wrong in command_test.cpp.) Errors, help and version are printed once, however many ranks
# there are.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
export OMPI_MCA_odls_base_sigkill_timeout=0 # otherwise mpirun waits a second whenever a rank ends with an error

# run RANKS ARGUMENTS...: sets `status`; standard output goes to the file out, standard error to err
run() {
  local start=()
  (($1 == 1)) || start=("$MPIEXEC" -n "$1")
  status=0
  timeout 400 "${start[@]}" "$RNNSEARCH" "${@:2}" >out 2>err </dev/null || status=$?
}
for ranks in 1 2; do
  run $ranks
  [[ $status == 2 && $(grep -c '^rnnsearch COMMAND \[' err) == 1 ]] || fail "$ranks ranks, no command: code $status, $(<err)"
  for words in --version "train --help"; do
    read -ra arguments <<<"$words"
    run $ranks "${arguments[@]}"
    [[ $status == 0 && $(grep -cxF "$(head -n 1 out)" out) == 1 ]] || fail "$ranks ranks, $words: code $status, $(<out)"
  done
done
refused 2 "unknown command 'tarin'" "$RNNSEARCH" tarin
refused 1 nowhere "$RNNSEARCH" inspect nowhere
refused 2 "unknown option '--ouptut'" "$MPIEXEC" -n 2 "$RNNSEARCH" train --ouptut

declare -A missing=( # a command line that names a file that does not exist
  [prepare]="--train-tsv nowhere --output x.h5" [train]="--corpus nowhere --run run" [translate]="--model nowhere"
  [score]="--model nowhere --source nowhere --target nowhere" [evaluate]="--hypotheses nowhere --references nowhere"
  [align]="--model nowhere --source nowhere" [benchmark]="--corpus nowhere" [rescore]="--list nowhere --weight F=1" [node-check]=""
)
mapfile -t commands < <("$RNNSEARCH" --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p')
((${#commands[@]} > 9)) || fail "rnnsearch --help lists only ${commands[*]}"
for command in "${commands[@]}"; do
  if [[ $command =~ ^(report|average|inspect)$ ]]; then
    refused 2 "was started in 2 processes, and is for one" "$MPIEXEC" -n 2 "$RNNSEARCH" "$command" --output x
    continue
  fi
  read -ra arguments <<<"${missing[$command]}"
  ((${#arguments[@]} == 0)) || refused 1 nowhere "$MPIEXEC" -n 2 "$RNNSEARCH" "$command" "${arguments[@]}"
done
# Whichever rank is misused, all leave with the same code and one sentence.
echo 'beam = many' >wrong.ini
while IFS='|' read -r code text words; do
  read -ra arguments <<<"$words"
  refused "$code" "$text" "$MPIEXEC" -n 1 "$RNNSEARCH" translate --model nowhere : -n 2 "${arguments[@]/#rnnsearch/$RNNSEARCH}"
done <<END
2|--beam is 'x'|rnnsearch translate --model nowhere --beam x
2|beam|rnnsearch translate --model nowhere --config wrong.ini
2|unknown command 'transalte'|rnnsearch transalte
2|no command was given|rnnsearch
2|RNNSEARCH_OVERSUBSCRIBE is 'maybe'|env RNNSEARCH_OVERSUBSCRIBE=maybe rnnsearch translate --model nowhere
2|RNNSEARCH_START_TIMEOUT is 'soon'|env RNNSEARCH_START_TIMEOUT=soon rnnsearch translate --model nowhere
2|RNNSEARCH_SIMD is 'mmx'|env RNNSEARCH_SIMD=mmx rnnsearch translate --model nowhere
1|nowhere|env RNNSEARCH_START_TIMEOUT= RNNSEARCH_OVERSUBSCRIBE=1 RNNSEARCH_SIMD= RNNSEARCH_END_TIME= rnnsearch translate --model nowhere
1|nowhere.ini|rnnsearch translate --model nowhere --config nowhere.ini
1|cannot read|rnnsearch translate --model nowhere --config /proc/self/mem
END
# An error of the system says what could not be done. Root is exempt from the limit of processes.
if ((EUID == 0)) && type setpriv prlimit >/dev/null; then
  limited=$(mktemp -d)
  chmod 777 "$limited"
  cp "$RNNSEARCH" "$limited/rnnsearch"
  printf 'a b\n' >"$limited/text"
  refused 1 "cannot start a thread: |ulimit -u" env --chdir "$limited" setpriv --reuid 54321 --regid 54321 --clear-groups \
    prlimit --nproc=1 ./rnnsearch prepare --train-source text --train-target text --tokenizer none --output x.h5 --threads 4
  rm -r "$limited"
fi
# Of three processes of which MPI knows nothing, each speaks for itself: none can know whether another one does.
for command in prepare inspect train; do
  refused 1 "FLUX_JOB_SIZE says that a launcher started 3 processes" \
    env FLUX_JOB_SIZE=3 FLUX_TASK_RANK=1 "$RNNSEARCH" $command --output x.h5
done
