#!/usr/bin/env bash
# translate, score, rescore and align take a number of instructions for each byte of a line that does not grow with the line: one line of
# 200 kB takes at most 1.3 times as many as 20 lines of 10 kB, for each reader that an option names a file of text for. (What the other commands do to a
# line is counted by long_lines_test.sh.) Words are long, so that the work of the model, which grows with the square of the number of words,
# is small beside that of the text. All rows but the first two only with RNNSEARCH_TEST_LONG=1.
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
command -v valgrind >/dev/null || { echo "skipped: valgrind is not installed" >&2; exit 77; }
source "$SOURCE/tests/train/support.sh"
make_corpus
"$RNNSEARCH" $(train_arguments run 3) 2>/dev/null

# repeated UNIT SEPARATOR BYTES LINES: LINES lines of BYTES bytes
repeated() {
  perl -e '($unit, $between, $bytes, $lines) = @ARGV; $line = join $between, ($unit) x ($bytes / length "$unit$between"); print "$line\n" x $lines' "$@"
}
word=$(repeated abcdefghij '' 4990 1)
for name in 1:1:200000 20:20:10000 0:20:10; do
  IFS=: read -r name lines bytes <<<"$name"
  repeated "$word" ' ' "$bytes" "$lines" >words$name
  repeated "$word" '	' "$bytes" "$lines" >phrases$name # whose words are required
  repeated '1 2 3 4' ' ' "$bytes" "$lines" | awk '{print int(NR / 10), NR % 10, $0}' >digits$name
  repeated 0-0 ' ' "$bytes" "$lines" >links$name
  repeated '1' '' "$bytes" "$lines" | sed 's/^/1 /; s/$/ 0.5/; $a 1 1 0.5' >table$name
  awk '{print NR - 1 " ||| " $0 " ||| F= 1 ||| 1"}' words$name >list$name
  repeated '1 2' '' 3 "$lines" >short$name
done
search="--model run --beam 1 --batch-sentences 1 --maximum-length 3 --retry-below 0"
instructions() { # NAME ARGUMENTS: the lines of all files are those of NAME: 1, 20 or 0
  valgrind --tool=callgrind --callgrind-out-file=profile "$RNNSEARCH" ${2//@/$1} --precision f32 --threads 1 >out 2>err || fail "$*: $(grep "^rnnsearch" err)"
  sed -n 's/^summary: //p' profile | awk '{all += $1} END {print all}'
}
bad=0 rows=0
while read -r name arguments; do
  [[ -n $name ]] || continue
  ((++rows <= 2)) || [[ -n ${RNNSEARCH_TEST_LONG:-} ]] || break
  arguments=${arguments//SEARCH/$search}
  none=$(instructions 0 "$arguments") one=$(instructions 1 "$arguments") many=$(instructions 20 "$arguments")
  awk -v name="$name" -v none="$none" -v one="$one" -v many="$many" 'BEGIN {
    ratio = (one - none) / (many - none)
    printf "%-20s %8.1f and %8.1f instructions for each byte: %.2f\n", name, (many - none) / 200000, (one - none) / 200000, ratio
    exit !(ratio <= 1.3 && one - none > 200000)}' || bad=1
done <<'END'
translate:input translate --input words@ SEARCH
translate:prefix translate --input short@ --prefix words@ SEARCH
translate:forbid translate --input short0 --forbid digits@ SEARCH
translate:require translate --input short@ --require phrases@ SEARCH
translate:shortlist translate --input short0 --shortlist table@ SEARCH
score:target score --model run --source short@ --target words@ --batch-sentences 1
rescore:list rescore --list list@ --weight F=1
align:gold align --model run --source short@ --target short@ --gold links@ --json alignment
END
((bad == 0)) || fail "see above"
