#!/usr/bin/env bash
# The report of two small trainings, an evaluation and alignments: its errors, the files beside the page, and the page in Chromium,
# with pointer, touch and keyboard, without JavaScript, narrow, wide, in dark mode and printed. The part in Chromium needs node, npm
# and the packages of package.json, and is skipped without them.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"

report() { "$RNNSEARCH" report "$@"; }

make_corpus
for attempt in 60 120; do  # two attempts: the second resumes
  on 1 search $attempt
done
on 1 encdec 90 --attention none
command -v node >/dev/null || { echo "skipped: node is not installed (pipelines/install.sh tests)" >&2; exit 77; }
node "$SOURCE/tests/report/make_inputs.mjs" .
# a section that an experiment wrote
cat >section.json <<'END'
{"format": "rnnsearch-section", "format_version": 1, "title": "Long <b> sentences", "text": ["How they were chosen."],
 "tables": [{"caption": "By place", "columns": [{"title": "words", "number": false}, {"title": "share"}], "rows": [["1-10", "88%"]]}],
 "sentences": [{"title": "Sentence 7", "texts": [{"name": "search", "language": "fr", "text": "un", "rest": "deux <i>"}]}]}
END
all=(--run search --run encdec --evaluation evaluation.json --alignment alignment.json --section section.json)

# the same input gives the same bytes, and only the requested files
report "${all[@]}" --title 'A "title" <b> & more' --output page.html --csv csv --markdown tables.md
report "${all[@]}" --title 'A "title" <b> & more' --output again.html
cmp page.html again.html || fail "the same input gave two pages"
(($(wc -c <page.html) < 1000000)) || fail "the page has $(wc -c <page.html) bytes"
[[ $(wc -l <csv/training.csv) == 211 ]] || fail "training.csv has $(wc -l <csv/training.csv) lines instead of a header and 210 updates"
for file in bleu metrics comparisons words-by-frequency training validation configuration; do
  [[ $(wc -l <csv/$file.csv) -gt 1 ]] || fail "csv/$file.csv is empty"
done
grep -q '^test/news,search,length,21-30,258,true,19.07,17.82,20.57,0.987' csv/bleu.csv || fail "bleu.csv: $(<csv/bleu.csv)"
grep -qF '| 21-30 | 258 | 19.07 \[17.82, 20.57\] | 7.40 \[6.15, 8.90\]\*\* |' tables.md || fail "tables.md: $(<tables.md)"
{ report --run search --output run.html && report --evaluation evaluation.json --output scores.html &&
  report --alignment alignment.json --output alignments.html; } || fail "a part alone makes no page"
report --run "$(printf 'n%.0s' {1..300})=search" --output long-name.html || fail "a name longer than a file's is not taken"
grep -q 'id="length"' run.html && fail "a page of a run alone has an empty section"

# real outputs of evaluate and align
"$RNNSEARCH" evaluate --model search=search --model encdec=encdec --corpus corpus.h5 --set dev --edges 3,5 --tokenizer none \
  --chrf --ter --significance bootstrap --breakdown unknown --breakdown rarest --breakdown frequency --threads 1 \
  --json real.json --sentences >/dev/null 2>/dev/null
"$RNNSEARCH" align --model search --source text/dev.source --target text/dev.target --threads 1 --json soft.json
report --evaluation real.json --alignment soft.json --output real.html || fail "what evaluate and align wrote is not read"
for id in chart-length table-scores table-comparison-1 chart-frequency chart-unknown chart-rarest sentences alignment-8; do
  grep -q "id=\"$id\"" real.html || fail "a page of what evaluate and align wrote has no $id"
done

# rounds: systems that were trained from several seeds
cp real.json second.json
report --round real.json --round second.json --output rounds.html --markdown rounds.md --csv rounds-csv || fail "rounds are not read"
for id in table-rounds chart-rounds-1 table-rounds-1; do
  grep -q "id=\"$id\"" rounds.html || fail "a page of rounds has no $id"
done
{ grep -q '^| search | 2 |' rounds.md && grep -q '^2,second.json,encdec,chrF,' rounds-csv/rounds.csv; } || fail "rounds: $(<rounds.md)"

# a run that is being written
cp -r search going && head -n 100 search/log.jsonl >going/log.jsonl && sed -n 101p search/log.jsonl | head -c 40 >>going/log.jsonl
report --run going --output going.html || fail "a run whose last line is half written is not read"
grep -q 'not ended' going.html || fail "a run that goes on is not called so"

# as text: a line for what the log says last, and why it ended
report --run search --run going --terminal >view
grep -q '^search: ended: max-updates reached' view || fail "--terminal: $(<view)"

# --follow: waits for the first update, writes what is new, and ends when the training does. The log is written here, in three parts.
wait_until() { # COMMAND...: returns when it succeeds
  local tries=0
  until "$@"; do
    ((++tries < 1200)) || fail "waited two minutes for: $*"
    sleep 0.1
  done
}
cp -r search live && : >live/log.jsonl
"$RNNSEARCH" report --run live --output live.html --terminal --follow --every 1 >live.txt &
follower=$!
wait_until grep -q 'has no update yet' live.txt
[[ ! -e live.html ]] || fail "a page of nothing"
head -n 100 search/log.jsonl >live/log.jsonl
wait_until test -s live.html
grep -q '<meta http-equiv="refresh" content="1" */>\|<meta http-equiv="refresh" content="1">' live.html || fail "the page is not loaded again"
wait_until grep -q '^live: ' live.txt
cp search/log.jsonl live/log.jsonl
wait "$follower" || fail "--follow ended with $?"
grep -q '^live: ended: max-updates reached' live.txt || fail "--follow does not say that the training has ended: $(tail live.txt)"
grep -q 'http-equiv="refresh"' live.html && fail "the last page is loaded again"
{ report --run live --output same.html && cmp live.html same.html; } || fail "the last page is not that of the whole training"

# unreadable input; what else is refused is in input_files_test.cpp
refused 1 "there is no run nowhere" "$RNNSEARCH" report --run nowhere --output refused.html
refused 2 "would count twice" "$RNNSEARCH" report --run search --run ./search/ --output refused.html
mkdir again && cp -r search again
refused 2 "would both be called search" "$RNNSEARCH" report --run search --run again/search --output refused.html
cp -r search damaged && sed -i '5s/.*/{"event":"upd/' damaged/log.jsonl
report --run damaged --output damaged.html 2>err || fail "a damaged line refuses the page: $(<err)"
grep -q 'damaged and not counted' damaged.html || fail "the page does not say that a line of the log is damaged"
refused 1 "not valid JSON" "$RNNSEARCH" report --evaluation page.html --output refused.html
refused 1 "its format is rnnsearch-evaluation" "$RNNSEARCH" report --alignment evaluation.json --output refused.html
refused 1 "evaluation.json and real.json score different sentences or use different options" \
  "$RNNSEARCH" report --round real.json --round evaluation.json --output refused.html
refused 1 "is a file" "$RNNSEARCH" report --run search --csv page.html --output refused.html

# the browser
for program in npm chromium; do
  command -v $program >/dev/null || { echo "skipped: $program is not installed (pipelines/install.sh tests)" >&2; exit 77; }
done
mkdir browser && cp "$SOURCE"/tests/report/package{,-lock}.json browser
if ! (cd browser && npm ci --no-audit --no-fund --prefer-offline --fetch-retries 1 >npm.log 2>&1); then
  (cd browser && npm ping --fetch-retries 1 >/dev/null 2>&1) && fail "npm ci: $(<browser/npm.log)"
  echo "skipped: npm cannot reach its registry, so there is no playwright-core and no axe-core to check the page with" >&2
  exit 77
fi
cd browser
node "$SOURCE/tests/report/page_check.mjs" ../page.html ../evaluation.json "$(command -v chromium)" "$PWD"
cd ..

# a page that is kept up to date, in the browser and on a terminal: both show the end without being asked
head -n 100 search/log.jsonl >live/log.jsonl
"$RNNSEARCH" report --run live --output live.html --follow --every 1 &
follower=$!
wait_until grep -q 'http-equiv="refresh"' live.html
(cd browser && node "$SOURCE/tests/report/follow_check.mjs" ../live.html "$(command -v chromium)") >followed &
browser=$!
wait_until grep -q '^open$' followed
if command -v tmux >/dev/null; then
  terminal() { tmux -L "rnnsearch-$$" "$@"; }
  terminal new-session -d -x 70 -y 20 "'$RNNSEARCH' report --run live --terminal --follow --every 1; sleep 600"
  trap 'terminal kill-server 2>/dev/null || true; [[ -z $(jobs -p) ]] || kill $(jobs -p) 2>/dev/null || true' EXIT
  shown() { terminal capture-pane -p | grep -q "$1"; }
  wait_until shown '^  update [0-9]* of 120, epoch .* left$'
fi
cp search/log.jsonl live/log.jsonl
wait "$browser" || fail "the browser did not show the end: $(<followed)"
wait "$follower" || fail "--follow ended with $?"
if command -v tmux >/dev/null; then
  wait_until shown '^live: ended: max-updates reached after update 120$'
  [[ $(terminal capture-pane -p | grep -c '^live: ') == 1 ]] || fail "the view is not drawn in place: $(terminal capture-pane -p)"
fi
