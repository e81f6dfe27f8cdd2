#!/usr/bin/env bash
# `evaluate` from files to figures: BLEU, chrF and chrF++ of difficult text against one to three references, for every tokenizer and
# every smoothing; several systems with a test of significance; and what a corpus tells of the training text.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
export LC_ALL=C.UTF-8 # in which printf writes characters
evaluate() { "$RNNSEARCH" evaluate --threads 1 "$@"; }

# Lines with markup, exotic white space (no-break, line separator, ideographic, form feed, carriage return, tab), several
# scripts, nothing at all, and nothing but white space. The hypothesis has errors; the second reference has lines that are
# shorter, the third empty ones.
cat >reference <<'END_OF_TEXT'
The price rose by 3.5% (to $1,200.50) -- "more than expected", they said.
&quot;Tom &amp; Jerry&quot; isn't &lt;b&gt;bold&lt;/b&gt; &amp;amp; so on <skipped> here.
L'été, à 20-30 °C: « rien à dire »… n'est-ce pas ?
他在2014年写了一篇论文,题目是“翻译”。The end.
Größe: 1990-2000, A/B; x_y [z] {w} ~ ` ^ | \ end-
Straße ÀÉÎ ΣΊΣΥΦΟΣ İstanbul DŽ mixed CASE
👍🏽 emoji ☀ → arrows ± § © ™ ½ x² 5€

one
of the people by the people for the people of the
END_OF_TEXT
printf 'a\u00a0b\u2028c\u3000d\re\tf\vg\fh\u1680i\u2003j\u0085k\x1cl\n' >>reference
printf ' \u3000 \t\n  two  spaces  .\u00a0\r\n' >>reference
cat >hypothesis <<'END_OF_TEXT'
The price rose by 3.5 % (to $1,200.50) - "more than we expected", they say.
"Tom & Jerry" is not &lt;b>bold</b> &amp;amp; so on <skipped>here.
L'été, à 20-30 °C : «rien à dire»... n'est-ce pas?
他在2014年写了一篇论文,题为“翻译”。 The end
Größe: 1990 - 2000, A/B; x_y [z] {w} ~ ` ^ | \ end-
STRASSE àéî σίσυφος ISTANBUL dž Mixed case
👍🏽 emojis ☀ → arrow ± § © ™ ½ x² 5 €
something
one
the people of the people by the people of the people
END_OF_TEXT
printf 'a b c\u3000d\re\tg\vf\fh\u1680i\u2003j\u0085k\x1cl m\n' >>hypothesis
printf '\n two spaces.  \r\n' >>hypothesis
perl -CSD -ne 'chomp; print $. % 3 == 1 ? $_ : substr($_, 0, length($_) / 2), "\n"' hypothesis >second
awk 'NR % 4 == 0 { print ""; next } { print $0 " more" }' reference >third

# Few words, without a 4-gram, or without a 3-gram, of the reference.
printf 'the cat , the dog .\n' >few && printf 'a dog , the cat sat .\n' >few.reference
printf 'the cat\n\n' >fewer && printf 'cat the mat\nx\n' >fewer.reference
# The figures are those of a program of 100 lines of Perl that follows the definitions (naive.pl in commit a0ad3c0): hypothesis,
# references, case, chrF, chrF++, then BLEU by tokenizer, smoothing and its value.
compared=0
while read -r hypothesis references case chrf chrf_with_words scores; do
  for score in $scores; do
    IFS=: read -r tokenizer smoothing value bleu <<<"$score"
    options=(--tokenizer "$tokenizer" --smoothing "$smoothing" --bootstrap 2 --json - --chrf)
    [[ $value == 0 ]] || options+=(--smooth-value "$value")
    [[ $case == mixed ]] || options+=(--lowercase)
    for file in ${references//,/ }; do options+=(--references "$file"); done
    compared=$((compared + 1))
    evaluate --hypotheses "$hypothesis" "${options[@]}" >found-$compared.json
    echo "$bleu $chrf $chrf_with_words $hypothesis $references $case $score" >>expected
  done
done <<'END'
few few.reference mixed 41.425266320628 44.581010385675 13a:exp:0:20.547995616751 13a:floor:0.1:10.928032077901 13a:floor:0.5:24.435822586485 13a:add-k:1:32.159351091190 13a:add-k:2:42.491048405959 13a:none:0:0
fewer fewer.reference mixed 25.089968511021 25.78125 13a:exp:0:0 13a:floor:0.1:0 13a:floor:0.5:0 13a:add-k:1:30.934850332661 13a:add-k:2:33.241660012939 13a:none:0:0
hypothesis reference mixed 70.090443137820 69.344547737771 13a:exp:0:67.518594540315 char:exp:0:74.436250451168 intl:exp:0:63.535547681839 none:exp:0:41.106945123049 zh:exp:0:63.291912558872
hypothesis reference,second mixed 94.501820246887 92.517144985825 13a:exp:0:88.505245358910 char:exp:0:87.406530747844 intl:exp:0:84.407812370859 none:exp:0:80.518086362906 zh:exp:0:82.547623356814
hypothesis reference,second lower 94.501820246887 92.517144985825 13a:exp:0:89.612195268627 char:exp:0:90.628831238709 intl:exp:0:85.323063538855 none:exp:0:82.056782915911 zh:exp:0:83.437103369638
hypothesis third,second,reference mixed 94.501820246887 92.517144985825 13a:exp:0:88.505245358910 char:exp:0:87.687720920106 intl:exp:0:82.839910899543 none:exp:0:79.716918017396 zh:exp:0:82.039639590362
END
python3 - <<'PYTHON' || fail "another figure than that of the definition"
import json
for number, line in enumerate(open("expected"), 1):
    row = json.load(open("found-%d.json" % number))["systems"][0]["all"]
    found = row["bleu"], row["chrF"]["score"], row["chrF++"]["score"]
    assert all(abs(f - float(e)) <= within for f, e, within in zip(found, line.split(), (1e-9, 1e-6, 1e-6))), (found, line)
assert number == 32
PYTHON
# TER with each of its options; the numbers are sacreBLEU 2.6.0's, TER(normalized, no_punct, asian_support, case_sensitive)
cat >asked <<'END'
does this sentence match??
what about this sentence?
Jim's car, No. 4.2 (red)
漢字、（カナ）。りの拳銃を持
the &quot;Cat&quot; sat on 10-20 mats.
END
cat >answer <<'END'
does this sentence match
wHaT aBoUt ThIs SeNtEnCe?
jim 's Car : no 4.2 , red
漢字（カナ）。の拳銃 を持つ
the "cat" sat on 10 - 20 mats
END
cat >other-answer <<'END'
does this sentence match!?!
wHaT aBoUt ThIs SeNtEnCe?
jims car no. 4,2 red !
漢 字カナ
The cat sat on 10-20 mats
END
while read -r score case norm punct asian options; do
  # shellcheck disable=SC2086  # the options are separated by spaces
  evaluate --hypotheses asked --references answer --references other-answer --bootstrap 0 --ter $options --json - >ter.json
  grep -q "\"score\": $score" ter.json || fail "TER $options is not $score: $(grep -A 1 TER ter.json)"
  grep -q "\"nrefs:2|case:$case|tok:tercom|norm:$norm|punct:$punct|asian:$asian|version:" ter.json || fail "signature: $(<ter.json)"
done <<'END'
41.6666666666666 lc no yes no
31.0344827586206 lc yes yes no --ter-normalized
17.7777777777777 lc no no no --ter-no-punctuation
8.51063829787234 lc yes no no --ter-normalized --ter-no-punctuation
28.9855072463768 lc yes yes yes --ter-normalized --ter-asian
17.7777777777777 lc no no yes --ter-no-punctuation --ter-asian
7.27272727272727 lc yes no yes --ter-normalized --ter-no-punctuation --ter-asian
66.6666666666666 mixed no yes no --ter-case-sensitive
52.1739130434782 mixed yes yes yes --ter-case-sensitive --ter-normalized --ter-asian
36.3636363636363 mixed yes no yes --ter-case-sensitive --ter-normalized --ter-no-punctuation --ter-asian
END
refused 2 "are for --ter" "$RNNSEARCH" evaluate --hypotheses asked --references answer --ter-normalized
refused 2 "--ter-asian is for --ter-normalized" "$RNNSEARCH" evaluate --hypotheses asked --references answer --ter --ter-asian

head -n 12 second >shorter
refused 1 "reference has 13 lines but shorter has 12" "$RNNSEARCH" evaluate --hypotheses hypothesis --references reference --references shorter

# several systems, compared with the named one; the p values are the same on any number of threads
perl -CSD -ne 'chomp; print join(" ", (split / /)[0 .. 2]), "\n"' reference >worse 2>/dev/null
cp hypothesis copy
systems=(--hypotheses hypothesis --hypotheses bad=worse --hypotheses copy --references reference)
for method in bootstrap randomization; do
  compare=("${systems[@]}" --significance "$method" --baseline copy --chrf --ter --edges 5 --json -)
  evaluate "${compare[@]}" >$method.json
  "$RNNSEARCH" evaluate --threads 2 "${compare[@]}" | cmp - $method.json || fail "two threads compare otherwise than one"
  [[ $(grep -c "\"method\": \"$method\"" $method.json) == 24 ]] || fail "not 2 systems, 4 metrics, 3 rows: $(<$method.json)"
  [[ $(grep -c '"baseline": "copy"' $method.json) == 24 ]] || fail "not all are against the baseline"
  [[ $(awk '/"system": "hypothesis"/ && on { getline; getline; getline; getline; print } /"comparisons"/ { on = 1 }' $method.json |
    sort | uniq -c | tr -s ' ') == $' 8 "p": 1.0,\n 4 "p": null,' ]] || fail "a copy is found to be different: $(<$method.json)"
done
evaluate "${systems[@]}" --significance bootstrap >table
grep -Eq '^BLEU .*\]\*\*† .*\]†$' table || fail "not the bad one alone is marked: $(<table)"
grep -q '^\* differs from hypothesis .*: paired bootstrap resampling, 1000 samples, seed 12345' table || fail "$(<table)"
# a corpus, which tells what was in the training text
perl -e 'my %count = (a => 2000, b => 150, c => 20, d => 5, e => 1, x => 1, y => 1);
  print "$_\n" x $count{$_} for sort keys %count' >train
printf '%s\n' 'a b a' 'a c c' 'd a' 'x a a a a a a a a a' 'y y' '' 'e b' >test.source
printf '%s\n' 'a b a' 'a c c' 'd d a' 'b a a a a a a a a a' 'a y x' '' 'e b b' >test.target
printf '%s\n' 'a b b' 'a c a' 'd e a' 'b a a a a a a a a a a' 'x x' 'a' 'b' >output
"$RNNSEARCH" prepare --train-source train --train-target train --test t:test.source:test.target --tokenizer none \
  --source-language en --target-language fr --source-words 8 --target-words 8 --output corpus.h5 >/dev/null
evaluate --hypotheses output --corpus corpus.h5 --set test/t --breakdown unknown --breakdown rarest \
  --breakdown frequency --sentences --json corpus.json >corpus.txt
evaluate --hypotheses output --corpus corpus.h5 --set test/t --breakdown unknown --breakdown rarest \
  --breakdown frequency >plain.txt
cmp corpus.txt plain.txt || fail "--json FILE changes what is printed"
python3 - <<'PYTHON' || fail "the breakdown by the corpus"
import json
result = json.load(open("corpus.json"))
system, sentences = result["systems"][0], result["sentences"]
def column(table, name): return [row[name] for row in system[table]]
assert column("by_unknown_share", "sentences") == [5, 1, 0, 0, 1]
assert column("by_rarest_word", "sentences") == [1, 2, 1, 2, 0]
for name, counts in (("words", [2, 3, 2, 4, 14]), ("hypothesis_words", [2, 2, 1, 4, 15]), ("correct", [1, 1, 1, 3, 12])):
    assert column("words_by_frequency", name) == counts, name
assert system["without_unknown_words"]["sentences"] == 5 and len(sentences) == 7
assert (result["set"], result["source_language"], result["target_language"]) == ("test/t", "en", "fr")
expected = 100 * (10 / 11 * 9 / 10 * 8 / 9 * 7 / 8) ** 0.25  # one word too many
assert abs(sentences[3]["systems"]["output"]["bleu"] - expected) < 1e-9
PYTHON
