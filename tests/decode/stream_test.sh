#!/usr/bin/env bash
# translate --stream answers each line before the next one is written, with the translations of translate --input, on any number of ranks.
# Its memory does not grow with the text. Lines of JSON are answered under their ids, and a bad one does not end it.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
on 1 run 40
{ cat text/dev.source && echo && head -n 3 text/dev.source; } >source
model=(--model run --threads 1 --precision f32)
"$RNNSEARCH" translate "${model[@]}" --input source --output whole --beam 3 2>/dev/null
patience=300 # seconds until a test that waits for an answer gives up

# begin RANKS OPTION...: starts a stream; the test writes to descriptor 3 and reads from descriptor 4
begin() {
  local ranks=$1 launcher=()
  ((ranks == 1)) || launcher=("$MPIEXEC" -n "$ranks")
  rm -f questions answers && mkfifo questions answers
  "${launcher[@]}" "$RNNSEARCH" translate "${model[@]}" --stream "${@:2}" <questions >answers 2>err &
  job=$!
  exec 3>questions 4<answers
}
end() { # the input ends, and the stream with it
  local code=0
  exec 3>&-
  wait $job || code=$?
  exec 4<&-
  [[ $code == 0 ]] || fail "the stream ended with code $code: $(<err)"
}
ask() { # LINE: writes it and waits for the answer
  printf '%s\n' "$1" >&3
  read -r -t $patience -u 4 answer || fail "no answer to '$1': $(<err)"
}

for ranks in 1 3; do
  begin $ranks --beam 3
  while IFS= read -r line; do ask "$line" && printf '%s\n' "$answer"; done <source >answered
  end
  cmp whole answered || fail "$ranks ranks answer otherwise than a file is translated"
done
"$RNNSEARCH" translate "${model[@]}" --stream --beam 3 --batch-sentences 5 <source 2>/dev/null | cmp - whole || fail "several lines at once"
printf '%s' "$(<source)" | "$RNNSEARCH" translate "${model[@]}" --stream --beam 3 2>/dev/null | cmp - whole || fail "no last line end"
for format in plain moses json; do
  "$RNNSEARCH" translate "${model[@]}" --input source --beam 3 --n-best 2 --n-best-format $format >listed 2>/dev/null
  "$RNNSEARCH" translate "${model[@]}" --stream --beam 3 --n-best 2 --n-best-format $format <source 2>/dev/null | cmp - listed ||
    fail "n-best lists, $format"
done

# Memory: 20,000 lines more than 2,000 leave no trace in it.
peak() { sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB$/\1/p' "/proc/$job/status"; }
begin 1 --beam 1
for _ in {1..2000}; do echo "3 4"; done >short
cat short >&3 &
head -n 2000 <&4 >/dev/null
few=$(peak)
for _ in {1..10}; do
  cat short >&3 &
  head -n 2000 <&4 >/dev/null
done
many=$(peak)
end
((many - few < 1024)) || fail "2,000 lines take $few kB, 22,000 take $many kB"

# What is no text ends a plain stream, after the lines before it. A signal ends it with the line to go on from.
{ head -n 2 source && printf 'a \xff\n' && head -n 1 source; } >broken
code_of "$RNNSEARCH" translate "${model[@]}" --stream --beam 3 <broken >out 2>err
[[ $code == 1 && $(<err) == *"standard input, line 3, byte 3: not valid UTF-8"* ]] || fail "bad UTF-8: code $code: $(<err)"
head -n 2 whole | cmp - out || fail "the lines before a bad one are not translated"
for ranks in 1 2; do
  begin $ranks
  ask "3 4"
  ask "4 5"
  signal=TERM
  ((ranks == 1)) || signal=USR1 # mpirun passes USR1 on, and ends at TERM
  kill -$signal $job
  code_of wait $job
  [[ $code == 85 && $(<err) == *"the output of the first 2 lines was written to standard output; continue with line 3 of the input"* ]] ||
    fail "SIG$signal: code $code: $(<err)"
  exec 3>&- 4<&-
done

# JSON: ids, n-best entries, errors.
for ranks in 1 2; do
  begin $ranks --beam 3 --input-format json
  number=0
  while IFS= read -r line; do
    number=$((number + 1))
    ask "{\"source\": \"$line\", \"id\": $number}"
    [[ $answer == "{\"id\":$number,\"translation\":\"$(sed -n ${number}p whole)\"}" ]] || fail "line $number: $answer"
  done <source
  ask '{"id": "a \" b", "source": ""}'
  [[ $answer == '{"id":"a \" b","translation":""}' ]] || fail "a text as id: $answer"
  ask "{\"source\": \"$(head -n 1 source)\"}"
  [[ $answer == "{\"id\":null,\"translation\":\"$(head -n 1 whole)\"}" ]] || fail "no id: $answer"
  line=$((number + 2))
  bad() { # LINE FACT: it is answered by an error that has the fact
    line=$((line + 1))
    ask "$1"
    [[ $answer == '{"id":'*",\"error\":\"standard input, line $line: "*"$2"*'"}' ]] || fail "$1: $answer"
  }
  bad 'no JSON' "not valid JSON"
  [[ $answer == '{"id":null,'* ]] || fail "an error without an id: $answer"
  bad '{"id": 3}' 'not an object with a'
  [[ $answer == '{"id":3,'* ]] || fail "the error of a line whose id can be read: $answer"
  bad '{"id": 3, "source": 4}' 'is not a string'
  bad '{"id": [3], "source": "4"}' 'neither a string nor a number'
  bad '{"id": 3, "source": "a\u0000b"}' 'a NUL character'
  bad $'{"source": "\xff"}' 'byte 13: not valid UTF-8'
  ask "{\"id\": 9, \"source\": \"$(head -n 1 source)\"}"
  [[ $answer == "{\"id\":9,\"translation\":\"$(head -n 1 whole)\"}" ]] || fail "the line after errors: $answer"
  end
done
