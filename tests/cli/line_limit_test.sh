#!/usr/bin/env bash
# Every command that reads text has --max-line-bytes: for each option that names a file of text, a longest line of exactly so many bytes is
# read, and one byte more is an error that names the file, the line, what was found, the limit and the option. The options are those of
# --help, so that a new one cannot be forgotten: it fails here until it is in one of the two lists below. And each file has one rule: with a
# byte order mark, CRLF and without its last line end it gives what it gives without, also where it is read as a whole; what is not UTF-8 and
# an empty file are refused with the file's name.
# shellcheck disable=SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
# Options of files that are no text: corpora, checkpoints, what a command writes, and models of SentencePiece.
no_text="prepare:output prepare:vocabulary-of prepare:subword-model prepare:source-subword-model prepare:target-subword-model train:corpus train:mix train:resume train:initial-model
  translate:model translate:output score:model score:output rescore:output rescore:n-best-output evaluate:corpus align:model
  align:pharaoh align:lexical-table report:output report:svg report:markdown
  average:checkpoint average:output inspect:file benchmark:corpus benchmark:mix benchmark:initial-model benchmark:resume"

# Texts of short lines, and of each kind a long one, whose longest line is the second.
for side in source target; do printf 'a b\nb a c\nc\na a b\n' >$side; done
seq -f 'c%.0f' -s '' 150 >word
printf 'a b\n%s\nc\na a b\n' "$(<word)" >long
paste source target >tsv
paste source long >long-tsv
printf '0-0\n0-0\n0-0\n0-0\n' >links
printf '0-0\n0-0%500s\n0-0\n0-0\n' "" >long-links
printf 'a a 0.5\na b%500s0.5\n' "" >long-table
printf '1\n0.5\n0\n2\n' >numbers
printf '1\n0.5%0500d\n0\n2\n' 0 >long-numbers
printf '{"weights":\n{"LogProbability": 1}%700s}\n' "" >weights
"$RNNSEARCH" prepare --train-source source --train-target target --dev-source source --dev-target target --tokenizer none \
  --output corpus.h5 >/dev/null
"$RNNSEARCH" train --corpus corpus.h5 --run run --embedding 8 --state 8 --alignment 8 --maxout 8 --optimizer adam --learning-rate 0.001 \
  --max-updates 2 --threads 1 2>/dev/null
"$RNNSEARCH" translate --model run --input source --threads 1 --beam 2 --n-best-format moses --output list 2>/dev/null
{
  sed 's/^\(0 ||| \)[^|]*/\1 /;1q' list
  sed 1d list
} >empty-field && mv empty-field list
printf '#version: 0.2\na b</w>\n' >codes
printf '3 4\n5 6\n' >lengths
printf 'x\ty\n1\t2\n' >chart
printf '# a setting\nmax-line-bytes = 2000\n' >ini
printf '{"format": "rnnsearch-section", "format_version": 1, "created_by": "a test", "title": "t",\n"text": ["x"]}\n' >section
"$RNNSEARCH" evaluate --hypotheses source --references target --json - >evaluation
"$RNNSEARCH" align --model run --source source --target target --json alignment --threads 1 2>/dev/null
[[ $(wc -L <list) -gt 20 && $(wc -L <list) -lt $(wc -c <word) ]] || fail "the list has other lines than this test needs: $(<list)"

# How a command reads the file of an option: FILE stands for it, FILE@KIND for its kind: text (the default), tsv, links, numbers, table, list
# or weights.
prepare="--tokenizer none --overwrite --output new.h5"
declare -A how=(
  [prepare:train-source]="--train-source FILE --train-target target $prepare"
  [prepare:train-target]="--train-source source --train-target FILE $prepare"
  [prepare:train-tsv]="--train-tsv FILE@tsv $prepare"
  [prepare:train-alignments]="--train-source source --train-target target --train-alignments FILE@links $prepare"
  [prepare:train-weights]="--train-source source --train-target target --train-weights FILE@numbers $prepare"
  [prepare:dev-source]="--train-source source --train-target target --dev-source FILE --dev-target target $prepare"
  [prepare:dev-target]="--train-source source --train-target target --dev-source source --dev-target FILE $prepare"
  [prepare:test]="--train-source source --train-target target --test t:source:FILE $prepare"
  [translate:input]="--model run --input FILE --beam 1"
  [translate:prefix]="--model run --input source --prefix FILE --beam 1"
  [translate:forbid]="--model run --input source --forbid FILE --beam 1"
  [translate:glossary]="--model run --input source --glossary FILE@tsv --beam 1"
  [translate:shortlist]="--model run --input source --shortlist FILE@table --beam 1"
  [translate:require]="--model run --input source --require FILE --beam 1"
  [score:source]="--model run --source FILE --target target"
  [score:target]="--model run --source source --target FILE"
  [rescore:list]="--list FILE@list --weight LogProbability=1"
  [rescore:source]="--list list --source FILE --model x=run"
  [rescore:weights]="--list list --weights FILE@weights"
  [evaluate:hypotheses]="--hypotheses FILE --references target"
  [evaluate:references]="--hypotheses target --references FILE"
  [evaluate:source]="--hypotheses target --references target --source FILE"
  [align:source]="--model run --source FILE --target target --pharaoh pharaoh"
  [align:target]="--model run --source source --target FILE --pharaoh pharaoh"
  [align:gold]="--model run --source source --target target --gold FILE@links"
)
# Files that are read as a whole, however long their lines are.
codes="--train-source source --train-target target $prepare"
declare -A whole=(
  [prepare:bpe-codes]="$codes --bpe-codes FILE@codes"
  [prepare:source-bpe-codes]="$codes --source-bpe-codes FILE@codes --target-bpe-codes codes"
  [prepare:target-bpe-codes]="$codes --source-bpe-codes codes --target-bpe-codes FILE@codes"
  [benchmark:lengths]="--lengths FILE@lengths --untimed-updates 0 --updates 1 --embedding 8 --state 8 --alignment 8 --maxout 8 --threads 1"
  [report:evaluation]="--evaluation FILE@evaluation --output page.html"
  [report:round]="--round FILE@evaluation --output page.html"
  [report:alignment]="--alignment FILE@alignment --output page.html"
  [report:section]="--section FILE@section --output page.html"
  [report:chart]="--chart FILE@chart --svg chart.svg"
  [evaluate:config]="--config FILE@ini --hypotheses source --references target"
  [translate:config]="--config FILE@ini --model run --input source --beam 1 --threads 1"
)

# What a command gives for a file: exit code, output, files that it writes. Its times and the names of its messages are left out.
result_of() {  # command arguments...
  rm -f new.h5 page.html chart.svg pharaoh
  "$RNNSEARCH" "$@" >out 2>err && echo 0 || echo $?
  [[ $1 == benchmark ]] || sed -E 's/[0-9.]+ s\b//g' out
  for file in new.h5 page.html chart.svg pharaoh; do [[ ! -e $file ]] || md5sum <$file; done
}
cells=0
odd() {  # command:option arguments, in which FILE is the file, kind
  local command=${1%%:*} plain status
  local -r arguments=${2/FILE/odd-file}
  case $3 in text) plain=source ;; table) plain=short-table ;; *) plain=$3 ;; esac
  cp $plain odd-file
  local -r expected=$(result_of $command $arguments)
  [[ $expected == 0* ]] || fail "$1 fails: $(<err)"
  (printf '\357\273\277' && sed 's/$/\r/' $plain | head -c -2) >odd-file
  [[ $(result_of $command $arguments) == "$expected" ]] || fail "$1 differs: $(<err) $(diff <(echo "$expected") <(result_of $command $arguments))"
  LC_ALL=C sed "2s/^/\xff/" $plain >odd-file
  status=0
  "$RNNSEARCH" $command $arguments >out 2>err || status=$?
  [[ $status == [12] && $(grep -c '^rnnsearch' err) == 1 && $(grep '^rnnsearch' err) == *odd-file*"line 2"* ]] ||
    fail "$1 with a byte that is not UTF-8: exit code $status: $(<err)"
  : >odd-file
  status=0
  "$RNNSEARCH" $command $arguments >out 2>err || status=$?
  [[ $command:$3 == *:ini || $1 == translate:input || $status == 1 && $(grep '^rnnsearch' err) == *odd-file* ]] || fail "$1 of an empty file: exit code $status: $(<err)"
  cells=$((cells + 1))
}
printf 'a a 0.5\na b 0.5\n' >short-table
declare -A file_of=([text]=long [tsv]=long-tsv [links]=long-links [numbers]=long-numbers [table]=long-table [list]=list [weights]=weights)

mapfile -t commands < <("$RNNSEARCH" --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p')
((${#commands[@]} > 9)) || fail "rnnsearch --help lists only ${commands[*]}"
checked=0
for command in "${commands[@]}"; do
  help=$("$RNNSEARCH" "$command" --help)
  mapfile -t options < <(sed -nE 's/^  --([a-z-]+) [^ ]*(FILE|SRC)[^ ]*( .*)?$/\1/p' <<<"$help")
  for option in "${options[@]}"; do
    entry=$command:$option
    [[ $option == config || $option == json || " ${no_text//$'\n'/ } " == *" $entry "* ]] && continue
    if [[ -n ${whole[$entry]:-} ]]; then
      [[ ${whole[$entry]} =~ FILE@([a-z]+) ]]
      odd $entry "${whole[$entry]/@${BASH_REMATCH[1]}/}" "${BASH_REMATCH[1]}"
      continue
    fi
    [[ -n ${how[$entry]:-} ]] || fail "rnnsearch $command --$option: say in this test how it is read, or that it is no text"
    [[ $help == *"--max-line-bytes N"*"[1048576]"* ]] || fail "rnnsearch $command reads text and has no --max-line-bytes of 1 MiB"
    arguments=${how[$entry]} kind=text
    [[ $arguments =~ FILE@([a-z]+) ]] && kind=${BASH_REMATCH[1]}
    file=${file_of[$kind]}
    arguments=${arguments/FILE@$kind/$file}
    read -r line bytes begin < <(LC_ALL=C awk 'length($0) > most {most = length($0); line = NR; text = $0}
      END {print line, most, substr(text, 1, 3)}' $file)
    threads="--threads 1"
    odd $entry "${how[$entry]/@$kind/} $threads" $kind
    status=0
    "$RNNSEARCH" $command ${arguments/FILE/$file} $threads --max-line-bytes $bytes >out 2>err || status=$?
    [[ $status == 0 ]] || fail "$entry: a line of $bytes bytes is refused at that limit: $(<err)"
    status=0
    "$RNNSEARCH" $command ${arguments/FILE/$file} $threads --max-line-bytes $((bytes - 1)) >out 2>err || status=$?
    said=$(grep '^rnnsearch' err) || true
    found="longer than the $((bytes - 1)) bytes of --max-line-bytes, beginning with '$begin"
    [[ $status == 1 && $said == *"$file"*" line $line"[:\ ]*"$found"* ]] ||
      fail "$entry: a line of $bytes bytes, exit code $status: $(<err)"
    checked=$((checked + 1))
  done
  [[ $help != *"--max-line-bytes "* ]] || {
    status=0
    "$RNNSEARCH" "$command" --max-line-bytes 0 >out 2>err || status=$?
    [[ $status == 2 && $(<err) == *"--max-line-bytes"*"'0'"* ]] || fail "$command --max-line-bytes 0: exit code $status: $(<err)"
  }
done
[[ $checked == "${#how[@]}" ]] || fail "$checked options were found in --help, and this test knows ${#how[@]}"

for entry in evaluate:config translate:config; do odd $entry "${whole[$entry]/@ini/}" ini; done
echo "$cells files with oddities"
((cells > 30)) || fail "only $cells files with oddities were tried"

# What never ends is refused when the limit is passed.
status=0
"$RNNSEARCH" translate --model run --threads 1 < <(yes | tr -d '\n' 2>/dev/null) >out 2>err || status=$?
[[ $status == 1 && $(<err) == *"standard input, line 1: longer than the 1048576 bytes of --max-line-bytes"* ]] ||
  fail "endless input: exit code $status: $(<err)"

# A stream answers an over-long line of JSON with its error and goes on.
printf '%s\n' '{"id":1,"source":"a"}' '{"id":2,"source":"a b c"}' '{"id":3,"source":"b"}' |
  "$RNNSEARCH" translate --model run --threads 1 --stream --input-format json --max-line-bytes 21 >out 2>err || fail "a stream: $(<err)"
for answer in '"id":1,"translation"' '"id":3,"translation"' 'standard input, line 2: longer than the 21 bytes of --max-line-bytes'; do
  [[ $(<out) == *"$answer"* && $(wc -l <out) == 3 ]] || fail "a stream does not answer $answer: $(<out)"
done
