#!/usr/bin/env bash
# data/wmt14-en-fr.sh OUT_DIR: downloads the corpora of Bahdanau, Cho and Bengio (2015), section 4.1, from statmt.org: Europarl 7,
# News Commentary 9, United Nations, 10^9 (Gigaword) and Common Crawl for training, newstest2012 and 2013 as dev,
# newstest2014 as test. Makes OUT_DIR/{train,dev,test}.{en,fr}, raw, one sentence a line. Downloads several gigabytes.
# Resumes after an interruption, and does nothing when OUT_DIR is complete.
#
# statmt.org publishes no checksums. The SHA-256 of each archive is recorded beside it when its download is complete, and
# every later run verifies it. Keep OUT_DIR/archives/*.sha256 with your results, so that others can compare theirs. The
# paper then selected 348 million words of these corpora (Axelrod et al., 2011); this script uses all of them.
set -euo pipefail

fail() {
  echo "wmt14-en-fr.sh: $*" >&2
  exit 1
}
(($# == 1)) || fail "usage: data/wmt14-en-fr.sh OUT_DIR"
[[ ! -e $1/.complete ]] || exit 0
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
for tool in curl tar gzip perl sha256sum; do
  command -v $tool >/dev/null || fail "$tool is missing; install it: apt-get install $tool"
done
mkdir -p -- "$1/archives" "$1/text" || fail "cannot write to $1"
CDPATH='' cd -- "$1"

fetch() {  # ADDRESS: downloads and verifies archives/NAME
  local name=archives/${1##*/}
  if [[ ! -e $name ]]; then
    echo "[data] $1"
    curl --fail --location --silent --show-error --retry 5 --continue-at - --output "$name.part" "$1" ||
      tar -tf "$name.part" >/dev/null 2>&1 ||  # the file was already complete, so the server refused to send the rest
      fail "the download of $1 failed; run the same command again to resume it"
    tar -tf "$name.part" >/dev/null || {
      rm "$name.part"
      fail "$1 was not a complete archive and was removed; run the same command again"
    }
    sha256sum <"$name.part" | cut -d ' ' -f 1 >"$name.sha256"
    mv "$name.part" "$name"
  fi
  [[ $(sha256sum <"$name" | cut -d ' ' -f 1) == "$(<"$name.sha256")" ]] ||
    fail "$PWD/$name differs from the SHA-256 recorded when it was downloaded; remove it and run the same command again"
}
site=https://www.statmt.org
for archive in europarl/v7/fr-en.tgz wmt14/training-parallel-nc-v9.tgz wmt13/training-parallel-un.tgz \
  wmt10/training-giga-fren.tar wmt13/training-parallel-commoncrawl.tgz wmt14/dev.tgz wmt14/test-full.tgz; do
  fetch $site/$archive
  [[ -e text/${archive##*/}.done ]] || tar -xf "archives/${archive##*/}" -C text
  touch "text/${archive##*/}.done"
done

plain() {  # NAME: prints the text of this file of the archives, also if it is gzipped or SGML
  local file
  file=$(find text -name "$1" -o -name "$1.gz" | head -n 1)
  case $file in
    '') fail "$1 is in none of the archives; statmt.org must have changed them" ;;
    *.gz) gzip -dc "$file" ;;
    *.sgm) "$here/lines.pl" "$file" text/set >&2 && cat text/set.* && rm text/set.* ;;
    *) cat "$file" ;;
  esac
}
for language in en fr; do
  for name in europarl-v7.fr-en news-commentary-v9.fr-en undoc.2000.fr-en giga-fren.release2.fixed commoncrawl.fr-en; do
    plain $name.$language
  done >train.$language
  for year in 2012 2013; do plain newstest$year.$language; done >dev.$language
done
plain newstest2014-fren-src.en.sgm >test.en
plain newstest2014-fren-ref.fr.sgm >test.fr
for part in train dev test; do
  counts="$(wc -l <$part.en) $(wc -l <$part.fr)"
  [[ ${counts% *} == "${counts#* }" && ${counts% *} != 0 ]] || fail "$part.en and $part.fr have $counts lines"
  echo "[data] $part: ${counts% *} pairs"
done
rm -r text
touch .complete
