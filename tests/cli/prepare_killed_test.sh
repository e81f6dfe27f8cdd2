#!/usr/bin/env bash
# A prepare that is killed (SIGKILL) while it writes leaves a temporary file. The next prepare removes it, but not the file of a
# prepare that is still running.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
trap '[[ -z $(jobs -p) ]] || kill -9 $(jobs -p) 2>/dev/null' EXIT

awk 'BEGIN { srand(1); for (i = 0; i < 300000; ++i) print int(rand() * 1000), int(rand() * 1000) "\t" int(rand() * 1000) }' >text
prepare=("$RNNSEARCH" prepare --train-tsv text --output corpus.h5 --overwrite --threads 1)
left() { find . -name '.corpus.h5.tmp-*' | wc -l; }

# stopped while it writes; `before`: files of others. One that is done before it stands still is started anew.
stop_while_writing() {
  local before=$1 attempt
  for ((attempt = 0; attempt < 50; ++attempt)); do
    rm -f corpus.h5
    "${prepare[@]}" >/dev/null 2>&1 &
    while (($(left) == before)) && kill -0 $! 2>/dev/null; do sleep 0.01; done
    kill -STOP $! 2>/dev/null || true
    while [[ $(ps -o stat= -p $!) == [!TZ]* ]]; do sleep 0.01; done
    (($(left) == before)) || return 0
    kill -CONT $! 2>/dev/null || true
    wait $! || fail "it failed: code $?"
  done
  fail "it ended before it could be stopped, $attempt times"
}
stop_while_writing 0
alive=$!
stop_while_writing 1
kill -9 $!
wait $! 2>/dev/null || true
(($(left) == 2)) || fail "what was killed left nothing to remove: $(ls -A)"

"${prepare[@]}" --json - >/dev/null
{ [[ -s corpus.h5 ]] && (($(left) == 1)); } || fail "there should be one file, of the process that lives: $(ls -A)"
kill -CONT $alive
wait $alive || fail "the one that went on could not end its work"
(($(left) == 0)) || fail "left behind: $(ls -A)"
