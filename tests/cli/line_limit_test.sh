#!/usr/bin/env bash
# Every command that reads text has --max-line-bytes: for each option that names a file of text, a longest line of exactly so many bytes is
# read, and one byte more is an error that names the file, the line, what was found, the limit and the option. The options are those of
# --help, so that a new one cannot be forgotten: it fails here until it is in one of the two lists below.
# shellcheck disable=SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
fail() {
  echo "$*"
  exit 1
}
# Options of files that are no text: corpora, checkpoints, what a command writes, and files in formats of their own.
no_text="prepare:output prepare:vocabulary-of prepare:subword-model prepare:source-subword-model prepare:target-subword-model
  prepare:bpe-codes prepare:source-bpe-codes prepare:target-bpe-codes train:corpus train:mix train:resume train:initial-model
  translate:model translate:output score:model rescore:output rescore:n-best-output tune:output evaluate:corpus align:model align:json
  align:pharaoh align:lexical-table report:evaluation report:alignment report:round report:section report:chart report:output report:svg report:markdown
  average:checkpoint average:output inspect:file benchmark:lengths benchmark:corpus benchmark:mix benchmark:initial-model"

# Texts of short lines, and of each kind a long one, whose longest line is the second.
for side in source target; do printf 'a b\nb a c\nc\na a b\n' >$side; done
seq -f 'c%.0f' -s '' 150 >word
printf 'a b\n%s\nc\na a b\n' "$(<word)" >long
paste source target >tsv
paste source long >long-tsv
printf '0-0\n0-0\n0-0\n0-0\n' >links
printf '0-0\n0-0%500s\n0-0\n0-0\n' "" >long-links
printf 'a a 0.5\na b%500s0.5\n' "" >long-table
printf '{"weights":\n{"LogProbability": 1}%700s}\n' "" >weights
"$RNNSEARCH" prepare --train-source source --train-target target --dev-source source --dev-target target --tokenizer none \
  --output corpus.h5 >/dev/null
"$RNNSEARCH" train --corpus corpus.h5 --run run --embedding 8 --state 8 --alignment 8 --maxout 8 --optimizer adam --learning-rate 0.001 \
  --max-updates 2 --threads 1 2>/dev/null
"$RNNSEARCH" translate --model run --input source --threads 1 --beam 2 --n-best-format moses --output list 2>/dev/null
[[ $(wc -L <list) -gt 20 && $(wc -L <list) -lt $(wc -c <word) ]] || fail "the list has other lines than this test needs: $(<list)"

# How a command reads the file of an option: FILE stands for it, FILE@KIND for its kind: text (the default), tsv, links, table, list or
# weights.
prepare="--tokenizer none --overwrite --output new.h5"
declare -A how=(
  [prepare:train-source]="--train-source FILE --train-target target $prepare"
  [prepare:train-target]="--train-source source --train-target FILE $prepare"
  [prepare:train-tsv]="--train-tsv FILE@tsv $prepare"
  [prepare:train-alignments]="--train-source source --train-target target --train-alignments FILE@links $prepare"
  [prepare:dev-source]="--train-source source --train-target target --dev-source FILE --dev-target target $prepare"
  [prepare:dev-target]="--train-source source --train-target target --dev-source source --dev-target FILE $prepare"
  [prepare:test]="--train-source source --train-target target --test t:source:FILE $prepare"
  [translate:input]="--model run --input FILE --beam 1"
  [translate:prefix]="--model run --input source --prefix FILE --beam 1"
  [translate:forbid]="--model run --input source --forbid FILE --beam 1"
  [translate:shortlist]="--model run --input source --shortlist FILE@table --beam 1"
  [translate:require]="--model run --input source --require FILE --beam 1"
  [score:source]="--model run --source FILE --target target"
  [score:target]="--model run --source source --target FILE"
  [rescore:list]="--list FILE@list --weight LogProbability=1"
  [rescore:source]="--list list --source FILE --model x=run"
  [rescore:weights]="--list list --weights FILE@weights"
  [tune:list]="--list FILE@list --references target --output tuned --restarts 0"
  [tune:references]="--list list --references FILE --output tuned --restarts 0"
  [tune:weights]="--list list --references target --weights FILE@weights --output tuned --restarts 0"
  [evaluate:hypotheses]="--hypotheses FILE --references target"
  [evaluate:references]="--hypotheses target --references FILE"
  [evaluate:source]="--hypotheses target --references target --source FILE"
  [align:source]="--model run --source FILE --target target --pharaoh pharaoh"
  [align:target]="--model run --source source --target FILE --pharaoh pharaoh"
  [align:gold]="--model run --source source --target target --gold FILE@links"
)
declare -A file_of=([text]=long [tsv]=long-tsv [links]=long-links [table]=long-table [list]=list [weights]=weights)

mapfile -t commands < <("$RNNSEARCH" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
((${#commands[@]} > 9)) || fail "rnnsearch --help lists only ${commands[*]}"
checked=0
for command in "${commands[@]}"; do
  help=$("$RNNSEARCH" "$command" --help)
  mapfile -t options < <(sed -nE 's/^  --([a-z-]+) [^ ]*(FILE|SRC)[^ ]*( .*)?$/\1/p' <<<"$help")
  for option in "${options[@]}"; do
    entry=$command:$option
    [[ $option == config || " ${no_text//$'\n'/ } " == *" $entry "* ]] && continue
    [[ -n ${how[$entry]:-} ]] || fail "rnnsearch $command --$option: say in this test how it is read, or that it is no text"
    [[ $help == *"--max-line-bytes N"*"[1048576]"* ]] || fail "rnnsearch $command reads text and has no --max-line-bytes of 1 MiB"
    arguments=${how[$entry]} kind=text
    [[ $arguments =~ FILE@([a-z]+) ]] && kind=${BASH_REMATCH[1]}
    file=${file_of[$kind]}
    arguments=${arguments/FILE@$kind/$file}
    read -r line bytes begin < <(LC_ALL=C awk 'length($0) > most {most = length($0); line = NR; text = $0}
      END {print line, most, substr(text, 1, 3)}' $file)
    threads="--threads 1"
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

# A test set's segments are lines.
{
  echo '<srcset setid="x" srclang="any"><doc docid="x">'
  sed 's/.*/<seg>&<\/seg>/' long
  echo '</doc></srcset>'
} >long.sgm
status=0
"$RNNSEARCH" translate --model run --input long.sgm --threads 1 --max-line-bytes 100 >out 2>err || status=$?
[[ $status == 1 && $(<err) == *"long.sgm line 3: the segment is longer than the 100 bytes of --max-line-bytes"* ]] ||
  fail "a test set: exit code $status: $(<err)"

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
