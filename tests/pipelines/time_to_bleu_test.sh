#!/usr/bin/env bash
# pipelines/benchmark/time_to_bleu.sh with a tiny corpus, a tiny model and stubs in place of other trainers: what a peer finds, the table
# of BLEU by minute, the chart, finished stages, and the errors.
# shellcheck disable=SC2016  # commands of peers are expanded by the shell that runs them
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
{ command -v perl >/dev/null && perl -MJSON::PP -e1; } || { echo "skipped: perl has no JSON::PP" >&2; exit 77; }
command -v h5dump >/dev/null || { echo "skipped: h5dump (Debian: hdf5-tools) is not installed" >&2; exit 77; }

mkdir text
perl -e 'srand 1; for my $i (1 .. 460) { my @n = map { int rand 30 } 1 .. 4 + $i % 9; print "@n\t", join(" ", map { 2 * $_ } reverse @n), "\n" }' >both
for part in train:1:400 dev:401:430 test:431:460; do
  IFS=: read -r name first last <<<"$part"
  sed -n "${first},${last}p" both | cut -f1 >"text/$name.en"
  sed -n "${first},${last}p" both | cut -f2 >"text/$name.fr"
done
export RNNSEARCH_TEXT=text RNNSEARCH_WORK=work RNNSEARCH_MINUTES=30 RNNSEARCH_RANKS=1 RNNSEARCH_SUBWORDS=300 RNNSEARCH_BEAM=1
export RNNSEARCH_UPDATES=6 RNNSEARCH_EVERY_UPDATES=3 RNNSEARCH_EVERY=0
run() { # ARGUMENTS...: with a tiny model
  "$SOURCE/pipelines/benchmark/time_to_bleu.sh" "$@" -- --embedding 8 --state 8 --alignment 8 --maxout 8 --validate-every 0
}

# rnnsearch alone
run >alone.out 2>&1 || fail "alone: $(tail -n 20 alone.out)"
[[ $(wc -l <work/checkpoints.tsv) == 2 && $(find work/rnnsearch -type f | wc -l) == 2 ]] || fail "not two checkpoints: $(<work/checkpoints.tsv)"
for file in work/rnnsearch/*; do
  [[ $(wc -l <"$file") == 30 ]] || fail "$file is no translation of the dev set"
done
[[ $(head -n 1 work/bleu.tsv) == $'Minutes of training\trnnsearch' && $(tail -n 1 work/bleu.tsv) =~ ^30$'\t'[0-9]+\.[0-9][0-9]$ ]] ||
  fail "the table of rnnsearch alone: $(<work/bleu.tsv)"
grep -q '^minute  30  rnnsearch ' alone.out || fail "no chart was printed: $(<alone.out)"

# A peer that writes translations: of the first 20 lines only the length is right until second 65, then all is right. Another one that
# knows its BLEU.
cat >stub.sh <<'STUB'
set -euo pipefail
[[ -s $SOURCE_MODEL && -s $TARGET_MODEL && $MINUTES == 30 && $THREADS == 1 && $MAX_LENGTH == 200 && -s $TEXT/train.$SOURCE && $INPUT == "$TEXT/dev.en" ]]
grep -q '<unk>' "$SOURCE_MODEL" # the model itself, not its dump
echo called >>calls
sed '1,20s/[0-9]\+/x/g' "$TEXT/dev.$TARGET" >"$OUTPUT/12.5"
cp "$TEXT/dev.$TARGET" "$OUTPUT/65"
echo 'no translation' >"$OUTPUT/notes"
STUB
touch stamp
peers=(--peer 'stub=bash stub.sh' --peer 'log=printf "# seconds BLEU\n59 7.5\n130.5 11\n" >"$OUTPUT/bleu.log"')
run "${peers[@]}" >both.out 2>&1 || fail "with peers: $(tail -n 20 both.out)"
[[ -z $(find work/run work/rnnsearch -newer stamp -type f) ]] || fail "rnnsearch was trained or translated again"
awk -F '\t' 'NR == 1 { exit $3 != "stub" || $4 != "log" }' work/bleu.tsv || fail "the head: $(<work/bleu.tsv)"
awk -F '\t' 'NR > 1 { before = $1 < 2 ? $3 > 5 && $3 < 60 : $3 == 100; known = $1 < 3 ? 7.5 : 11; if (!before || $4 != known) exit 1 }
  END { exit NR != 31 }' work/bleu.tsv || fail "the peers' BLEU by minute: $(<work/bleu.tsv)"
"$RNNSEARCH" evaluate --hypotheses "it=work/stub/12.5" --references text/dev.fr --bootstrap 0 >score
grep -q " $(awk -F '\t' 'NR == 2 { print $3 }' work/bleu.tsv)" score || fail "another BLEU than that of evaluate: $(<score), $(<work/bleu.tsv)"
grep -Eq '^ +10 +(-|[0-9.]+) +0\.2 +2\.2$' both.out || fail "minutes to BLEU 10: $(<both.out)"
{ grep -q '<svg' work/bleu.svg && grep -q 'Minutes of training' work/bleu.svg && grep -q '>stub<' work/bleu.svg; } ||
  fail "the chart: $(head -c 600 work/bleu.svg)"
run "${peers[@]}" >again.out 2>&1 || fail "again: $(tail -n 20 again.out)"
[[ $(<calls) == called ]] || fail "a finished peer was trained again"

refused() { # WORDS ARGUMENTS...: ends with code 1, and the last line contains the words
  local words=$1 status=0
  shift
  run "$@" >out 2>err || status=$?
  [[ $status == 1 && $(tail -n 1 err) == "time-to-bleu: "*"$words"* ]] || fail "$*: code $status, $(<err)"
}
refused "must be NAME=COMMAND" --peer 'true'
refused "two trainers are called rnnsearch" --peer 'rnnsearch=true'
refused "unknown option --peers" --peers 'a=true'
refused "broken ended with exit code 3: exit 3" --peer 'broken=exit 3'
refused "idle has written no translation and no bleu.log" --peer 'idle=true'
refused "a line that is not 'SECONDS BLEU'" --peer 'odd=echo twelve 3 >"$OUTPUT/bleu.log"'
RNNSEARCH_SET=training refused "it must be dev or test"
