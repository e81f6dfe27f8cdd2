#!/usr/bin/env bash
# inspect of a corpus: dropped pairs with reasons, lengths, unknown words, pairs as plain text; the same in JSON.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"

printf '%s\n' 'A dog, a cat.' 'A dog.' '' 'one two three four five six' 'Собака и кот.' 'A dog.' 'one two three' >en
printf '%s\n' 'Un chien, un chat !' 'A dog.' 'Rien.' 'un' 'Un chien et un chat.' 'Un chien.' 'un deux trois' >fr
options=(--train-source en --train-target fr --test t:en:fr --source-words 9 --max-length 7)
"$RNNSEARCH" prepare "${options[@]}" --output corpus.h5 --max-ratio 2 --drop-copies --source-script English >prepared 2>&1 &&
  fail "English is a script"
"$RNNSEARCH" prepare "${options[@]}" --output corpus.h5 --max-ratio 2 --drop-copies --source-script en --drop-repeated >prepared
grep -qx 'pairs dropped  4: empty source 1, empty target 0, source too long 0, target too long 0, lengths too different 1, target copies source 1, source in another script 1' prepared ||
  fail "dropped: $(<prepared)"

"$RNNSEARCH" inspect corpus.h5 --pairs 2 >shown
has() {
  grep -Eq "^$1\$" shown || fail "inspect does not say '$1': $(<shown)"
}
has 'tokenizer +words'
has 'pairs read +7 +100.00%'
has 'kept +3 +42.86%'
has 'dropped: target copies source +1 +14.29%'
has 'options  max-length 7  max-ratio 2.0  drop-copies true  drop-repeated true  source-script en  script-share 0.5'
has 'train +3 +12 +25.00% +12 +0.00%'
has 'test/t +7 +25 +44.00% +24 +16.67% +1'
has '3 +2 +66.67%  #{24} +2 +66.67%  #{24}'
has '6 +1 +33.33%  #{12} +1 +33.33%  #{12}'
has 'source  A dog ⁇ a cat\.'
has 'target  Un chien, un chat !'
[[ $(grep -c '^source  ' shown) == 2 ]] || fail "not two pairs: $(<shown)"
"$RNNSEARCH" inspect corpus.h5 --pairs 1 --json - >json
perl -MJSON::PP -e 'local $/; my $j = decode_json(<>); my $d = $j->{selection}{dropped};
  die "dropped" unless $d->{copied} == 1 && $d->{source_script} == 1 && $j->{selection}{pairs_read} == 7;
  die "train" unless $j->{train}{pairs} == 3 && $j->{train}{source_unknown_words} == 3;
  die "pairs" unless @{$j->{pairs}} == 1 && $j->{pairs}[0]{target} eq "Un chien, un chat !"' json || fail "JSON: $(<json)"
