#!/usr/bin/env bash
# data/debian.sh on a small made-up archive: it makes a complete corpus or nothing, is repeatable, and prints one-line errors.
set -euo pipefail
command -v apt-get >/dev/null || exit 77
debian=$SOURCE/data/debian.sh
source "$SOURCE/tests/support/shell.sh"

architecture=$(dpkg --print-architecture)
stable=archive/dists/stable
mkdir -p "$stable/main/i18n" "$stable/main/binary-$architecture"
for i in {1..9}; do
  echo -e "Package: pkg$i\nSource: src$i\nVersion: 1\nArchitecture: all\n" >>"$stable/main/binary-$architecture/Packages"
  for text in "en:Tool number $i for birds" "fr:outil numéro $i pour oiseaux" "pt_BR:a ferramenta $i das aves"; do
    printf 'Package: pkg%d\nDescription-md5: %032d\nDescription-%s: %s\n\n' "$i" "$i" "${text%%:*}" "${text#*:}" \
      >>"$stable/main/i18n/Translation-${text%%:*}"
  done
done
{
  echo -e "Suite: stable\nCodename: stable\nComponents: main\nArchitectures: $architecture\nDate: $(date -Ru)\nSHA256:"
  (cd $stable && find main -type f -exec sh -c 'echo " $(sha256sum <"$1" | cut -d" " -f1) $(wc -c <"$1") $1"' - {} \;)
} >Release
mv Release $stable
echo "deb [trusted=yes] file:$PWD/archive stable main" >sources.list
echo "Dir::Etc::sourcelist \"$PWD/sources.list\"; Dir::Etc::sourceparts \"/dev/null\";" >apt.conf
export APT_CONFIG=$PWD/apt.conf

"$debian" en fr corpus --dev 0 --test 0 >log || fail "$(<log)"
(($(wc -l <corpus/train.en) == 9)) || fail "train has $(wc -l <corpus/train.en) pairs, not 9: $(<log)"
[[ $(ls -A corpus) == $'.complete\ndev.en\ndev.fr\nstatistics.txt\ntest.en\ntest.fr\ntrain.en\ntrain.fr' ]] ||
  fail "unexpected files: $(ls -A corpus)"
touch -d '2001-01-01' corpus/train.en
"$debian" en fr corpus --dev 0 --test 0 || fail "a complete corpus was not accepted"
[[ $(date -r corpus/train.en +%Y) == 2001 ]] || fail "a complete corpus was made again"
"$debian" fr pt_BR between --dev 0 --test 0 >log || fail "$(<log)"
(($(wc -l <between/train.pt_BR) == 9)) || fail "fr-pt_BR has $(wc -l <between/train.pt_BR) pairs, not 9: $(<log)"

odd=$'-o\'dd "na: me" #1 \\1 $x\nand & more'
"$debian" en fr "$odd" --dev 0 --test 0 >log || fail "into a folder with an odd name: $(<log)"
cmp "./$odd/train.en" corpus/train.en || fail "a corpus in a folder with an odd name is another"

# shellcheck disable=SC2016  # that shell expands them
refuses() { refused 1 "$1" bash -c '"$0" "$@" >/dev/null' "$debian" "${@:2}"; } # FACTS ARGUMENTS...
refuses "usage" en fr
refuses "name two languages" en en new
refuses "'e n' is no language code" "e n" fr new
refuses "'xx' is no language|en fr pt_BR" en xx new
refuses "another folder" en pt_BR corpus
mkdir taken && touch taken/mine
refuses "something else" en fr taken

mv archive away
! "$debian" en fr later >log 2>error || fail "accepted without an archive"
grep -q "could not reach Debian's archive" error || fail "without an archive: $(<error)"
[[ ! -e later/.complete ]] || fail "a failed download looks complete"
mv away archive
"$debian" en fr later --dev 0 --test 0 >log || fail "did not go on after a failed download: $(<log)"
cmp -s corpus/train.fr later/train.fr || fail "the resumed corpus differs"
