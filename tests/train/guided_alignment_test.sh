#!/usr/bin/env bash
# --guided-alignment: attention learns the links that prepare was given, on one rank and two, in pieces and after an interruption; what
# cannot be guided is refused with the reason.
# shellcheck disable=SC2046  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
"$SOURCE/data/reversal.sh" text --vocabulary 10 --max-length 7 --train 600 --dev 16 --test 100 >/dev/null
# Every target word is linked to the last source word, which no training without links would find.
for set in train test; do
  awk '{ for (i = 0; i < NF; ++i) printf "%s%d-%d", (i ? " " : ""), NF - 1, i; print "" }' text/$set.source >$set.links
done
prepare() { # CORPUS OPTION...
  "$RNNSEARCH" prepare --train-source text/train.source --train-target text/train.target --dev-source text/dev.source \
    --dev-target text/dev.target --tokenizer none --output "$@"
}
prepare corpus.h5 --train-alignments train.links >prepared
prepare plain.h5 >/dev/null

train() { "$RNNSEARCH" $(train_arguments "$1" "$2") "${@:3}" 2>"$1.log" || fail "$1: $(<"$1.log")"; }
error_rate() { # RUN
  "$RNNSEARCH" align --model "$1" --source text/test.source --target text/test.target --gold test.links --gold-first-word 0 |
    awk '/^alignment error rate/ { print $NF }'
}
train unguided 56
train longer 56 --guided-alignment 1
train guided 28 --guided-alignment 1
echo "alignment error rate after 56 updates: unguided $(error_rate unguided), guided $(error_rate longer)"
awk "BEGIN { exit !($(error_rate longer) < 0.1 && $(error_rate unguided) > 0.5) }" || fail "guided attention does not learn the links"

losses() { sed -n 's/.*"event":"update".*"loss_per_word":\([^,]*\).*/\1/p' "$1/log.jsonl"; }
"$MPIEXEC" -n 2 "$RNNSEARCH" $(train_arguments pieces 28) --guided-alignment 1 --accumulate 3 2>/dev/null
paste <(losses guided) <(losses pieces) |
  awk '{ d = $1 / $2 - 1; d = d < 0 ? -d : d; worst = d > worst ? d : worst; if (NR <= 8 && d > 1e-5) exit bad = 1 }
       END { printf "%d losses, at worst %.1e apart\n", NR, worst; exit !(!bad && NR == 28 && worst < 1e-2) }' ||
  fail "two ranks in pieces are guided otherwise than one"
train halves 14 --guided-alignment 1
train halves 28 --guided-alignment 1
expect_equal halves guided
"$RNNSEARCH" $(train_arguments threads 28 | sed 's/--threads 1/--threads 2/') --guided-alignment 1 2>/dev/null
expect_equal threads guided
for ranks in 1 2; do
  "$MPIEXEC" -n $ranks "$RNNSEARCH" $(train_arguments shards$ranks 14) --guided-alignment 1 --reproducible-shards 4 2>/dev/null
done
expect_equal shards1 shards2

# The loss that is reported is that of the words alone.
train first 1 --guided-alignment 1
train plain 1
[[ $(losses first) == "$(losses plain)" ]] || fail "the reported loss has the cost of the alignments in it"

refused 1 "has no word alignments" "$RNNSEARCH" $(train_arguments refused 1 | sed s/corpus.h5/plain.h5/) --guided-alignment 1
sed '5s/$/ 9-0/' train.links >wrong
if prepare wrong.h5 --train-alignments wrong 2>said; then fail "a link past the end is taken"; fi
grep -q 'wrong line 5: the link 9-0 is past' said || fail "a link past the end: $(<said)"

# Links that prepare learns, the same on any number of threads: each word has its translation in the same place.
for set in train dev test; do sed -E 's/[0-9]+/w&/g' text/$set.source >text/$set.copy; done
learned=("$RNNSEARCH" prepare --train-source text/train.source --train-target text/train.copy --dev-source text/dev.source
  --dev-target text/dev.copy --tokenizer none --learn-alignments)
"${learned[@]}" --output learned.h5 --threads 1 >/dev/null 2>&1
"${learned[@]}" --output again.h5 --threads 2 >/dev/null 2>&1
cmp learned.h5 again.h5 || fail "links that are learned depend on the number of threads"
refused 2 "learn-alignments and train-alignments both make word alignments" "${learned[@]}" --output both.h5 \
  --train-alignments train.links
awk '{ for (i = 0; i < NF; ++i) printf "%s%d-%d", (i ? " " : ""), i, i; print "" }' text/train.source >train.diagonal
given=("${learned[@]/--learn-alignments/--train-alignments}")
"${given[@]}" train.diagonal --output given.h5 >/dev/null 2>&1
cmp learned.h5 given.h5 || fail "the links that are learned are not those of each word with its translation"
