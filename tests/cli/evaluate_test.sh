#!/usr/bin/env bash
# `evaluate` from files to figures: BLEU, chrF and chrF++ of difficult text against one to three references, for every tokenizer and
# every smoothing, must equal those of a slow program that follows the definitions; then the command with several systems and with
# a corpus.
set -euo pipefail

fail() {
  echo "$*"
  exit 1
}
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

cat >naive.pl <<'END_OF_PERL'
use strict; use warnings; use utf8; use List::Util qw(min max sum0);
# Python's white space, which separates words
my $space = qr/[\t-\r\x1c-\x20\x85\xa0\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]/;
sub words { my ($line) = @_; return grep { length } split /$space+/, $line }
sub ascii_punctuation {
  my ($line) = @_;
  $line = " $line ";
  $line =~ s/([\{-\~\[-\` -\&\(-\+\:-\@\/])/ $1 /g;
  $line =~ s/([^0-9])([.,])/$1 $2 /g;
  $line =~ s/([.,])([^0-9])/ $1 $2/g;
  $line =~ s/([0-9])(-)/$1 $2 /g;
  return $line;
}
my %tokenize = (
  none => sub { $_[0] },
  char => sub { join " ", split //, $_[0] },
  "13a" => sub {
    my ($line) = @_;
    $line =~ s/<skipped>//g; $line =~ s/&quot;/"/g; $line =~ s/&amp;/&/g; $line =~ s/&lt;/</g; $line =~ s/&gt;/>/g;
    return ascii_punctuation($line);
  },
  intl => sub {
    my ($line) = @_;
    $line =~ s/(\P{N})(\p{P})/$1 $2 /g; $line =~ s/(\p{P})(\P{N})/ $1 $2/g; $line =~ s/(\p{S})/ $1 /g;
    return $line;
  },
  zh => sub {
    my ($line) = @_;
    $line =~ s/^$space+//;
    $line =~ s/([\x{3400}-\x{4db5}\x{4e00}-\x{9fbb}\x{ff00}-\x{ffef}\x{2e80}-\x{2fdf}\x{2ff0}-\x{303f}\x{3100}-\x{312f}\x{31a0}-\x{31bf}\x{31c0}-\x{31ef}\x{2001}-\x{2a6d}\x{3200}-\x{33ff}\x{fe10}-\x{fe1f}\x{fe30}-\x{fe4f}])/ $1 /g;
    return ascii_punctuation($line);
  });
sub ngrams {
  my ($n, @items) = @_;
  my %count;
  ++$count{join "\0", @items[$_ .. $_ + $n - 1]} for 0 .. @items - $n;
  return \%count;
}
sub shared { my ($a, $b) = @_; return sum0 map { min($a->{$_}, $b->{$_} // 0) } keys %$a }
sub bleu {
  my ($hypotheses, $references, $tokenizer, $smoothing, $value) = @_;
  my (@correct, @total); my ($length, $reference_length) = (0, 0);
  for my $i (0 .. $#$hypotheses) {
    my ($ours, @theirs) = map { my $line = $_; $line =~ s/$space+\z//; [words($tokenize{$tokenizer}->($line))] }
        $hypotheses->[$i], map { $_->[$i] } @$references;
    $length += @$ours;
    my ($closest) = sort { abs($a - @$ours) <=> abs($b - @$ours) || $a <=> $b } map { scalar @$_ } @theirs;
    $reference_length += $closest;
    for my $n (1 .. 4) {
      my %most;
      for my $reference (@theirs) {
        my $count = ngrams($n, @$reference);
        $most{$_} = max($most{$_} // 0, $count->{$_}) for keys %$count;
      }
      $correct[$n] += shared(ngrams($n, @$ours), \%most);
      $total[$n] += max(0, @$ours - $n + 1);
    }
  }
  return 0 if !sum0(@correct[1 .. 4]);
  my ($log, $half) = (0, 1);
  for my $n (1 .. 4) {
    my $more = $smoothing eq "add-k" && $n > 1 ? $value : 0;
    my ($c, $t) = ($correct[$n] + $more, $total[$n] + $more);
    return 0 if $t == 0;
    $c = $half /= 2 if $c == 0 && $smoothing eq "exp";
    $c = $value if $c == 0 && $smoothing eq "floor";
    return 0 if $c == 0;
    $log += log($c / $t) / 4;
  }
  return 100 * exp($log + min(0, 1 - $reference_length / $length));
}
sub parts {  # characters without white space, words with one mark of punctuation apart
  my ($line) = @_;
  my @words = words($line);
  return ([map { split // } @words],
          [map { /^(.+)([!-\/:-\@\[-`{-~])\z/s ? ($1, $2) : /^([!-\/:-\@\[-`{-~])(.+)\z/s ? ($1, $2) : $_ } @words]);
}
sub f_score {
  my ($precision, $recall, $orders) = (0, 0, 0);
  for (@_) {
    my ($ours, $theirs, $both) = @$_;
    next if !$ours || !$theirs;
    $precision += $both / $ours; $recall += $both / $theirs; ++$orders;
  }
  return 0 if $precision + $recall == 0;
  return 100 * 5 * $precision * $recall / (4 * $precision + $recall) / $orders;
}
sub chrf {
  my ($hypotheses, $references, $word_orders) = @_;
  my @sum;
  for my $i (0 .. $#$hypotheses) {
    my ($best, $best_score);
    my ($characters, $words) = parts($hypotheses->[$i]);
    for my $set (@$references) {
      my ($their_characters, $their_words) = parts($set->[$i]);
      my @statistics;
      for ([6, $characters, $their_characters], [$word_orders, $words, $their_words]) {
        my ($orders, $ours, $theirs) = @$_;
        for my $n (1 .. $orders) {
          my ($a, $b) = (ngrams($n, @$ours), ngrams($n, @$theirs));
          push @statistics, [%$b ? sum0(values %$a) : 0, sum0(values %$b), shared($a, $b)];
        }
      }
      my $score = f_score(@statistics);
      ($best, $best_score) = (\@statistics, $score) if !$best || $score > $best_score;
    }
    for my $order (0 .. $#$best) { $sum[$order][$_] += $best->[$order][$_] for 0 .. 2 }
  }
  return f_score(@sum);
}
my ($lower, @files) = @ARGV;
my @texts = map {
  open my $file, "<:raw:encoding(UTF-8)", $_ or die "$_: $!";
  local $/ = "\n"; my @lines = <$file>; chomp @lines;
  if ($lower) { s/(?<=\p{L})Σ(?!\p{L})/ς/g, $_ = lc for @lines }  # perl's lc knows no final sigma
  \@lines
} @files;
my $hypotheses = shift @texts;
for my $tokenizer (sort keys %tokenize) {
  for (["exp", 0], ["floor", 0.1], ["floor", 0.5], ["add-k", 1], ["add-k", 2], ["none", 0]) {
    my ($smoothing, $value) = @$_;
    printf "%s %s %s %.12f\n", $tokenizer, $smoothing, $value, bleu($hypotheses, \@texts, $tokenizer, $smoothing, $value);
  }
}
printf "chrF %.12f\nchrF++ %.12f\n", chrf($hypotheses, \@texts, 0), chrf($hypotheses, \@texts, 2);
END_OF_PERL

number() {  # of a JSON document: the value after this pattern, from the first line that matches $2 on
  awk -v from="$2" -v name="\"$1\":" '!done && $0 ~ from { on = 1 }
    on && !done && $1 == name { sub(/,$/, "", $2); print $2; done = 1 }'
}
near() {  # expected, found, tolerance
  awk -v a="$1" -v b="$2" -v e="$3" 'BEGIN { exit !(b != "" && a - b <= e && b - a <= e) }'
}
# Few words, without a 4-gram, or without a 3-gram, of the reference.
printf 'the cat , the dog .\n' >few && printf 'a dog , the cat sat .\n' >few.reference
printf 'the cat\n\n' >fewer && printf 'cat the mat\nx\n' >fewer.reference
compared=0
while read -r lower which hypothesis references; do
  [[ $lower == 0 ]] && more=() || more=(--lowercase)
  for file in $references; do more+=(--references "$file"); done
  # shellcheck disable=SC2086  # names of files
  perl naive.pl "$lower" "$hypothesis" $references >expected
  while read -r tokenizer smoothing value score; do
    options=(--tokenizer "$tokenizer" --smoothing "$smoothing" --bootstrap 2 --json --chrf)
    [[ $value == 0 ]] || options+=(--smooth-value "$value")
    evaluate --hypotheses "$hypothesis" "${more[@]}" "${options[@]}" >found.json
    found=$(number bleu '"all"' <found.json)
    near "$score" "$found" 1e-9 ||
      fail "$hypothesis, $references, lower $lower, $tokenizer $smoothing $value: BLEU $found, not $score"
    for metric in chrF chrF++; do
      score=$(awk -v m=$metric '$1 == m { print $2 }' expected)
      found=$(number score "^      \"${metric//+/[+]}\"" <found.json)
      near "$score" "$found" 1e-6 || fail "$hypothesis, $references, lower $lower: $metric $found, not $score"
    done
    compared=$((compared + 1))
  done < <(grep "$which" expected)
done <<'END_OF_TEXTS'
0 ^13a few few.reference
0 ^13a fewer fewer.reference
0 .*exp hypothesis reference
0 .*exp hypothesis reference second
1 .*exp hypothesis reference second
0 .*exp hypothesis third second reference
END_OF_TEXTS
((compared == 32)) || fail "only $compared scores were compared"
evaluate --hypotheses hypothesis --references reference --references second --json --bootstrap 0 >two.json
grep -q '"signature": "nrefs:2|case' two.json || fail "the signature does not say that there were two references"
head -n 12 second >shorter
! evaluate --hypotheses hypothesis --references reference --references shorter 2>error || fail "a short reference is taken"
grep -q 'reference has 13 lines but shorter has 12' error || fail "a short reference is refused so: $(<error)"

# several systems, compared with the named one; the p values are the same on any number of threads
perl -CSD -ne 'chomp; print join(" ", (split / /)[0 .. 2]), "\n"' reference >worse 2>/dev/null
cp hypothesis copy
systems=(--hypotheses hypothesis --hypotheses bad=worse --hypotheses copy --references reference)
for method in bootstrap randomization; do
  compare=("${systems[@]}" --significance "$method" --baseline copy --chrf --ter --edges 5 --json)
  evaluate "${compare[@]}" >$method.json
  "$RNNSEARCH" evaluate --threads 2 "${compare[@]}" | cmp - $method.json || fail "two threads compare otherwise than one"
  [[ $(grep -c "\"method\": \"$method\"" $method.json) == 24 ]] || fail "not 2 systems, 4 metrics, 3 rows: $(<$method.json)"
  [[ $(grep -c '"baseline": "copy"' $method.json) == 24 ]] || fail "not all are against the baseline"
  [[ $(awk '/"system": "hypothesis"/ && on { getline; getline; getline; getline; print } /"comparisons"/ { on = 1 }' $method.json |
    sort | uniq -c | tr -s ' ') == $' 8 "p": 1.0,\n 4 "p": null,' ]] || fail "a copy is found to be different: $(<$method.json)"
done
evaluate "${systems[@]}" --significance bootstrap >table
grep -q '^all .*†$' table && fail "the copy is marked: $(<table)"
grep -Eq '^all .*\]†' table || fail "the bad one is not marked: $(<table)"
grep -q '^† p < 0.05 against hypothesis: paired bootstrap resampling, 1000 samples, seed 12345' table || fail "$(<table)"
evaluate "${systems[@]}" --details --ter >table
grep -Eq '^TER .*  *[0-9]+\.[0-9]+ \[' table || fail "no TER with its interval"
evaluate "${systems[@]}" --length-tokenizer char --edges 40 >table
grep -q '^lengths counted by tok:char$' table || fail "no tok:char"

# sequence accuracy: positions, order, and each sentence's root of their product. By hand, PSA, LCSR and GeoMean of the
# sentences: 1 1 1; 0 3/4 0; 0 1 0; 1/2 1 sqrt(1/2). Cut to the reference, the last two have 0 0 0 and 1/2 1/2 1/2.
printf '%s\n' '1 2 3 4' '5 6 7 8' '9' '1 2' >places.reference
printf '%s\n' '1 2 3 4' '6 7 8' '8 9' '3 2 1 2' >places
places() { evaluate --hypotheses places --references places.reference --tokenizer none "$@"; }
accuracies() { # FILE PSA LCSR GEOMEAN
  { near "$2" "$(number score '"PSA":' <"$1")" 1e-5 && near "$3" "$(number score '"LCSR":' <"$1")" 1e-5 &&
    near "$4" "$(number score '"GeoMean":' <"$1")" 1e-5; } || fail "not PSA $2, LCSR $3, GeoMean $4: $(<"$1")"
}
places --sequence-accuracy cut --json >places.json
accuracies places.json 37.5 56.25 37.5
{ grep -q '"sequence_accuracy": "cut"' places.json && grep -q '|output:cut|' places.json; } || fail "cut is not said: $(<places.json)"
places --sequence-accuracy whole --json >places.json
accuracies places.json 37.5 93.75 42.677670 # (1 + sqrt(1/2)) / 4
grep -q '"sequence_accuracy": "whole"' places.json || fail "whole is not said: $(<places.json)"
awk -v low="$(number low '"PSA":' <places.json)" -v high="$(number high '"PSA":' <places.json)" \
  'BEGIN { exit !(low >= 0 && low < 37.5 && high > 37.5 && high <= 100) }' || fail "PSA has no interval: $(<places.json)"
places --sequence-accuracy cut >table
grep -Eq '^PSA  *4\*  *37\.50 \[ *0\.00,  *[0-9.]*\]$' table || fail "no PSA in the table: $(<table)"
grep -q '^PSA, LCSR and GeoMean are means over sequences; outputs were cut to the reference' table || fail "no legend: $(<table)"
places >table
! grep -q PSA table || fail "PSA unasked"

# a chart below the table, in plain ASCII; the level of 41 to 60 words against the best bucket, by hand: all words right up
# to 40, and half of the 41 to 60 right from the first on and the others wrong
evaluate --hypotheses places --references places.reference --tokenizer none >table
evaluate --hypotheses places --references places.reference --tokenizer none --chart >chart
head -n "$(wc -l <table)" chart | cmp - table || fail "the table is another one with --chart: $(<chart)"
{ grep -qx 'BLEU by sentence length' chart && grep -q '^o places: BLEU as a share of its best bucket' chart; } || fail "no chart: $(<chart)"
! LC_ALL=C grep -q '[^ -~]' chart || fail "not plain ASCII: $(<chart)"
perl -e 'for my $n ((35) x 100, (45) x 60, (55) x 60) { print join(" ", map { "w$_" } 1 .. $n), "\n" }' >level.reference
perl -e 'for my $n ((35) x 100, (45) x 60, (55) x 60) {
  print join(" ", map { $n > 40 && $_ > 20 ? "x" : "w$_" } 1 .. $n), "\n" }' >level
level=(--hypotheses level --references level.reference --tokenizer none --edges "10,20,30,40,60" --bootstrap 0)
evaluate "${level[@]}" --chart >chart
grep -qx 'o level: BLEU as a share of its best bucket.s (31-40: 100.00)' chart || fail "$(<chart)"
evaluate "${level[@]}" --json >level.json
grep -q '"best_bucket": "31-40"' level.json || fail "$(<level.json)"
# 120 sentences of 50 words on average: 20 of 50 words, 19 of 49, 18 of 48, 17 of 47
share=$(perl -e 'print ((20 / 50 * 19 / 49 * 18 / 48 * 17 / 47) ** 0.25)')
near "$share" "$(grep -A 6 shares_of_best_bucket level.json | sed -n 6p | tr -d ' ,')" 1e-9 || fail "not $share: $(<level.json)"
grep -q " $(perl -e "printf '%.0f%%', 100 * $share")" chart || fail "not $share: $(<chart)"
! evaluate "${level[@]}" --chart --json >/dev/null 2>error || fail "--chart with --json"
grep -q -- '--chart is for the table' error || fail "$(<error)"
nine=()
for i in 1 2 3 4 5 6 7 8 9; do nine+=(--hypotheses "s$i=level"); done
! evaluate "${nine[@]}" --references level.reference --chart >/dev/null 2>error || fail "nine systems in a chart"
grep -q -- '--chart shows at most 8 systems, but there are 9' error || fail "$(<error)"

# a corpus, which tells what was in the training text
perl -e 'my %count = (a => 2000, b => 150, c => 20, d => 5, e => 1, x => 1, y => 1);
  print "$_\n" x $count{$_} for sort keys %count' >train
printf '%s\n' 'a b a' 'a c c' 'd a' 'x a a a a a a a a a' 'y y' '' 'e b' >test.source
printf '%s\n' 'a b a' 'a c c' 'd d a' 'b a a a a a a a a a' 'a y x' '' 'e b b' >test.target
printf '%s\n' 'a b b' 'a c a' 'd e a' 'b a a a a a a a a a a' 'x x' 'a' 'b' >output
"$RNNSEARCH" prepare --train-source train --train-target train --test t:test.source:test.target --tokenizer none \
  --source-language en --target-language fr --source-words 8 --target-words 8 --output corpus.h5 >/dev/null
evaluate --hypotheses output --corpus corpus.h5 --set test/t --breakdown unknown --breakdown rarest \
  --breakdown frequency --sentences --json >corpus.json
rows() {  # label and the number after this name, of each row of a list
  awk -v list="\"$1\":" -v name="\"$2\":" '$1 == list { on = 1 } on && /^      \]/ { exit }
    on && $1 == "\"label\":" { label = $0; gsub(/.*: "|",/, "", label) } on && $1 == name { printf "%s=%s ", label, $2 + 0 }' corpus.json
}
same() { [[ $2 == "$3" ]] || fail "$1: $2 instead of $3"; }
same unknown "$(rows by_unknown_share sentences)" 'none=5 up to 5%=1 5 to 10%=0 10 to 20%=0 over 20%=1 '
same rarest "$(rows by_rarest_word sentences)" 'unknown=1 1-9=2 10-99=1 100-999=2 1000 and more=0 '
same words "$(rows words_by_frequency words)" 'unknown=2 1-9=3 10-99=2 100-999=4 1000 and more=14 '
same hypothesis "$(rows words_by_frequency hypothesis_words)" 'unknown=2 1-9=2 10-99=1 100-999=4 1000 and more=15 '
same correct "$(rows words_by_frequency correct)" 'unknown=1 1-9=1 10-99=1 100-999=3 1000 and more=12 '
same without "$(number sentences '"without_unknown_words"' <corpus.json)" 5
grep -q '"set": "test/t"' corpus.json || fail "the set has no name"
{ grep -q '"source_language": "en"' corpus.json && grep -q '"target_language": "fr"' corpus.json; } || fail "the languages are not named"
[[ $(grep -c '"hypothesis": ' corpus.json) == 7 ]] || fail "not every sentence is there"
expected=$(awk 'BEGIN { printf "%.12f", 100 * (10 / 11 * 9 / 10 * 8 / 9 * 7 / 8) ^ 0.25 }')  # one word too many
near "$expected" "$(number bleu '"line": 4' <corpus.json)" 1e-9 || fail "BLEU of sentence 4 is not $expected"
evaluate --hypotheses output --corpus corpus.h5 --set test/t --breakdown frequency >table
grep -Eq '^1-9  *3  *40\.00$' table || fail "no F1 of rare words: $(<table)"
