#!/usr/bin/env bash
# data/debian_pairs.pl on small made-up Translation files: which text is paired, dropped (and why) and held out.
set -euo pipefail
pairs=$SOURCE/data/debian_pairs.pl
source "$SOURCE/tests/support/shell.sh"

cat >stanzas <<'STANZAS'
Package: zoo
Source: fauna (1.2)
Version: 1.2

Package: zoo
Description-md5: 11111111111111111111111111111111
Description-en: Collection of animals
 The zoo shows many animals of the whole world, e.g. Cats and dogs.  It
 opens in the morning. Is it free? "Yes" is the cross-
 platform answer.
 .
 The animals are:
  * cats that sleep for the
    whole day;
  - dogs
 .
 One sentence here. And another one there.
 .
 The only paragraph whose list differs:
  - first
  - second
 .
 Same words in both languages.
 .
 Short.
 .
 12345 67890

Package: zoo
Description-md5: 11111111111111111111111111111111
Description-fr: collection d’animaux
 Le zoo montre beaucoup d'animaux du monde entier, p. ex. Les chats et les chiens.
 Il ouvre le matin. Est-il gratuit ? « Oui » est la réponse multi-
 plateforme.
 .
 Les animaux sont :
  – les chats qui dorment toute la journée ;
  – les chiens.
 .
 Une phrase ici et une autre là.
 .
 Le seul paragraphe dont la liste diffère :
  – premier
 .
 Same words in both languages.
 .
 Cette traduction est beaucoup trop longue pour ce seul petit mot anglais.
 .
 12345 67890

Package: unmatched
Description-md5: 22222222222222222222222222222222
Description-fr: jamais en anglais

Package: late
Description-md5: 33333333333333333333333333333333
Description-en: Library of animals in Python⋅3
 This package contains the development files of the animal library.

Package: late
Description-md5: 33333333333333333333333333333333
Description-fr: bibliothèque d'animaux en Python⋅3
 This package contains the development files de animal library.

Package: late-twin
Description-md5: 44444444444444444444444444444444
Description-en: Library of animals in Python 3

Package: late-twin
Description-md5: 44444444444444444444444444444444
Description-fr: bibliothèque d'animaux en Python 3
STANZAS
mkdir small
perl "$pairs" en fr small --dev 0 --test 0 <stanzas >statistics
diff <(paste -d '|' small/train.en small/train.fr | sort) <(sort <<'EXPECTED'
Collection of animals|collection d’animaux
The zoo shows many animals of the whole world, e.g. Cats and dogs.|Le zoo montre beaucoup d'animaux du monde entier, p. ex. Les chats et les chiens.
It opens in the morning.|Il ouvre le matin.
Is it free?|Est-il gratuit ?
"Yes" is the cross-platform answer.|« Oui » est la réponse multi-plateforme.
The animals are:|Les animaux sont :
cats that sleep for the whole day|les chats qui dorment toute la journée
dogs|les chiens.
One sentence here. And another one there.|Une phrase ici et une autre là.
Library of animals in Python 3|bibliothèque d'animaux en Python 3
EXPECTED
) || fail "the pairs are not the expected ones (expected on the right)"
expected='dropped: 1 badly proportioned, 1 identical, 1 no letters, 1 repeated, 3 structures differ, 1 untranslated'
[[ $(tail -n 1 statistics) == "$expected" ]] ||
  fail "drops by reason: $(tail -n 1 statistics)"
grep -q '^3 descriptions in both languages, 3 groups' statistics || fail "$(head -n 1 statistics)"

# a made-up archive of 300 programs in two versions; all packages share one sentence, and the two versions of a program some others
perl -e '
  for my $i (0 .. 299) {
    my $name = join "", map { chr(97 + $_) } int($i / 26), $i % 26;
    for my $package ("lib$name", "$name-doc") {
      my $md5 = sprintf "%032x", ++$n;
      my $version = $package =~ /^lib/ ? "9" : "10.1";
      print "Package: $package\nSource: $name-$version\n\n";
      print "Package: $package\nDescription-md5: $md5\nDescription-en: tool $package of its kind\n",
        " The tool $name is one of many good things. It is tool number $i.\n .\n This package belongs to everybody.\n\n",
        "Package: $package\nDescription-md5: $md5\nDescription-fr: outil $package de son genre\n",
        " Cet outil $name est une des bonnes choses. Il est le numéro $i des outils.\n .\n Ce paquet est à tout le monde.\n\n";
    }
  }' >archive
for run in 1 2; do
  mkdir run$run
  PERL_HASH_SEED=$run perl "$pairs" en fr run$run --dev 30 --test 30 <archive >run$run/statistics
done
diff -r run1 run2 || fail "the same input gave other bytes"
cd run1
for part in dev test; do
  (($(wc -l <$part.en) >= 30 && $(wc -l <$part.en) == $(wc -l <$part.fr))) || fail "$part has $(wc -l <$part.en) pairs"
done
sentences() { cat "$@" | sed 's/\. /.\n/g' | sort -u; }
for language in en fr; do
  for parts in "dev test" "dev train" "test train"; do
    both=$(comm -12 <(sentences "${parts% *}.$language") <(sentences "${parts#* }.$language"))
    [[ -z $both ]] || fail "$parts share: $both"
  done
done
names() { sed -nE 's/^(The )?tool (lib)?(\w\w)(-doc)? .*/\3/p' "$@" | sort -u; }
[[ -z $(comm -12 <(names dev.en test.en) <(names train.en)) ]] || fail "two versions of one program are on both sides"
[[ -n $(names test.en) ]] || fail "the check above saw no names"
grep -q '\. It is tool number [0-9]*\.$' test.en || fail "test has no segment of several sentences"
grep -qx 'It is tool number [0-9]*\.' train.en || fail "train has no single sentences"
grep -q 'belongs to everybody' train.en || fail "train lacks the sentence that all share"
cd ..

if perl "$pairs" en de small <stanzas >/dev/null 2>error; then fail "accepted a language that is not there"; fi
{ grep -q "'de'" error && (($(wc -l <error) == 1)); } || fail "not one sentence: $(<error)"
