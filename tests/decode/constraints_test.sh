#!/usr/bin/env bash
# translate --forbid, --require, --glossary and --beam-groups, with a model of words: forbidden words stand in no
# translation, required ones in all that have room for them, and threads, batches and ranks change nothing; nor do the constraints of other lines.
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus
"$RNNSEARCH" $(train_arguments words 150) 2>/dev/null
cp text/dev.source source
{ echo && head -n 8 text/dev.source; } >>source
# What the model would write often, and a phrase; a word that begins like another one must not forbid it.
"$RNNSEARCH" translate --model words --input source --output plain --precision f32 --beam 4 --retry-below 0 --maximum-length-ratio 8 2>/dev/null
tr ' ' '\n' <plain | grep . | sort | uniq -c | sort -rn | awk '{print $2}' >frequent
{ sed -n 2p frequent && echo && echo "$(sed -n 1p frequent) $(sed -n 1p frequent)"; } >forbid
# Lines without phrases, with one, and with two, one of them unknown to the model.
tr ' ' '\n' <text/dev.target | sort -u | grep -vxFf <(tr ' ' '\n' <forbid | grep .) >others
awk -v one="$(head -n 1 others)" -v two="$(tail -n 1 others)" \
  '{print NR % 3 == 0 ? "" : NR % 3 == 1 ? two : two "\t" one " strange"}' source >require
tr ' ' '\n' <source | grep . | sort | uniq -c | sort -rn |
  awk -v term="strange $(head -n 1 others)" 'NR < 3 {print $2 "\t" (NR == 1 ? term : "odd")} END {print "\nno such\tthing"}' >glossary

# check LIST WHAT
check() {
  python3 - "$@" <<'PYTHON' || fail "$*"
import json, sys
name, what = sys.argv[1:]
lines = lambda name: open(name).read().split("\n")[:-1]
has = lambda text, phrase: f" {phrase} " in f" {text} "
source, forbidden, required = lines("source"), [f for f in lines("forbid") if f], lines("require")
glossary = [line.split("\t") for line in lines("glossary") if line]
plain, seen = lines("plain"), 0
assert any(has(text, f) for text in plain for f in forbidden), "nothing to forbid"
for entry in map(json.loads, open(name)):
    line, text = entry["line"], entry["text"]
    if "forbid" in what:
        assert not any(has(text, f) for f in forbidden), (line, text)
    if "require" in what:
        phrases = [p for p in required[line].split("\t") if p]
        if not phrases:
            assert "forbid" in what or text == plain[line] or entry["rank"] > 1, (line, text, plain[line])
        elif source[line] and entry["rank"] == 1:
            seen += 1
            assert all(has(text, p) for p in phrases), (line, text, phrases)
    for term, target in glossary:
        if "glossary" in what and has(source[line], term):
            seen += 1
            assert has(text, target) or entry["rank"] > 1, (line, text, target)
assert seen > 10 or "require" not in what and "glossary" not in what
PYTHON
}

for how in "--beam-groups 2 --diversity 1 --n-best 4" "--forbid forbid --require require" "--glossary glossary --no-repeat-ngram 3" \
  "--forbid forbid --sample --n-best 3"; do
  [[ $how == *--sample* ]] || how+=" --beam 4 --retry-below 0"
  everywhere one --model words $how --maximum-length-ratio 8
  check one "$how"
done

# Lines that lack something are named, and the line with an empty source is one of them.
translated short --model words --require require --maximum-length 2 --beam 4
[[ $(<err) == *"source, line 2: the translation lacks 1 of the required phrases"* ]] || fail "the short line: $(<err)"
[[ $(<err) != *"line 3:"* ]] || fail "a line without phrases is named: $(<err)"

# A prefix wins over what is forbidden, and its first 20 lines are named.
word=$(sed -n 1p forbid)
sed "s/.*/$word/" source >begin
"$RNNSEARCH" translate --model words --input source --prefix begin --forbid forbid --beam 2 --output begun 2>err
[[ $(<err) == *"source, line 20: its prefix has a word or phrase of --forbid"* &&
  $(<err) == *"the like is true of $(($(wc -l <source) - 20)) further lines"* && $(grep -c "^$word" begun) == $(grep -c . source) ]] ||
  fail "a forbidden prefix: $(<err)"

# Lines of JSON have their own phrases.
"$RNNSEARCH" translate --model words --precision f32 --input source --require require --output required --beam 4 2>/dev/null
paste -d'|' source require | sed 's/\(.*\)|\(.*\)/{"source": "\1", "require": ["\2"]}/; s/\t/", "/' |
  "$RNNSEARCH" translate --model words --precision f32 --stream --input-format json --beam 4 2>/dev/null |
  sed 's/^{"id":null,"translation":"\([^"]*\)".*}$/\1/' | cmp - required || fail "phrases of JSON"
translate=("$RNNSEARCH" translate --model words --input source)
head -n 5 require >short
refused 1 "--require short has 5 lines but source has more" "${translate[@]}" --require short
printf 'a\tb\n\na b\n' >bad
refused 1 "bad, line 3: 'a b' is not a source term, a tab and a target term" "${translate[@]}" --glossary bad
refused 1 "missing" "${translate[@]}" --forbid missing
