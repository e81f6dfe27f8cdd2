#!/usr/bin/env bash
# data/debian.sh SRC TGT OUT_DIR [--dev N] [--test N]: makes a parallel corpus from the translations of Debian's package
# descriptions, for instance data/debian.sh en fr runs/debian-en-fr
# Makes OUT_DIR/{train,dev,test}.{SRC,TGT} and statistics.txt (see data/README.md). Needs no root, only apt on a machine
# set up for Debian's archive; downloads about 20 MB into a temporary folder, never into the system's package lists.
# Does nothing when OUT_DIR is complete.
set -euo pipefail

fail() {
  echo "debian.sh: $*" >&2
  exit 1
}
(($# >= 3)) || fail "usage: data/debian.sh SRC TGT OUT_DIR [--dev N] [--test N]"
src=$1 tgt=$2 out=$3
[[ $out != -* ]] || out=./$out # a name that begins with a dash would be read as an option
shift 3
[[ $src != "$tgt" ]] || fail "source and target are both '$src': name two languages"
for language in "$src" "$tgt"; do
  [[ $language =~ ^[A-Za-z_@]+$ ]] ||
    fail "'$language' is no language code of Debian; such codes look like fr, de or pt_BR"
done
made="$src $tgt${*:+ $*}"
if [[ -e $out/.complete ]]; then
  [[ $(<"$out/.complete") == "$made" ]] ||
    fail "$out holds the corpus '$(<"$out/.complete")', not '$made'; name another folder or remove that one"
  exit 0
fi
[[ ! -e $out || -d $out ]] || fail "$out is not a folder; name another or remove it"
if [[ -d $out && ! -e $out/.incomplete && -n $(ls -A "$out") ]]; then
  fail "$out holds something else ($(find "$out" -mindepth 1 -printf %P -quit)); name an empty or new folder"
fi
[[ -x /usr/lib/apt/apt-helper ]] || fail "there is no apt on this machine; the corpus is fetched from Debian's archive with apt"
{ mkdir -p "$out" && touch "$out/.incomplete"; } || fail "cannot write to $out"
[[ $out == /* ]] || out=$PWD/$out

# apt uses the system's sources, mirrors, proxies and keys, but writes all its files to a temporary folder, whose path it can handle
apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
: >"$apt/status"
options=(
  -o Acquire::Languages="$src,$tgt" -o Acquire::Retries=3 -o APT::Sandbox::User="" -o APT::Get::List-Cleanup=false
  -o Dir::State="$apt" -o Dir::State::Lists="$apt/lists" -o Dir::State::status="$apt/status"
  -o Dir::Cache="$apt/cache" -o Dir::Log="$apt"
)
echo "[data] fetching Debian's package descriptions in $src and $tgt"
# Ignore failures, because one broken source among several does not matter; the lists are checked below.
apt-get -qq "${options[@]}" update >"$apt/log" 2>&1 || true

# -L: for a mirror on this machine (file:) apt makes links
lists() { find -L "$apt/lists" -maxdepth 1 -type f \( -name "$1" -o -name "$1.*" \) -size +0 | LC_ALL=C sort; }
translations() { lists "*_i18n_Translation-${1//_/%5f}"; }  # apt writes _ as %5f in the names of downloaded files
reason() { grep -m1 '^[EW]:' "$apt/log" || echo 'it gave no reason'; }
[[ -n $(lists '*Release') ]] ||
  fail "apt could not reach Debian's archive ($(reason)); check the network and /etc/apt"
for language in "$src" "$tgt"; do
  if [[ -z $(translations "$language") ]] || grep -q "Failed to fetch .*Translation-$language" "$apt/log"; then
    known=$(lists '*Release' |
      xargs -d '\n' grep -ohE '/Translation-[A-Za-z_@]+' | sed 's,.*-,,' | sort -u | tr '\n' ' ')
    [[ " $known" != *" $language "* ]] ||
      fail "the download of Translation-$language is incomplete ($(reason)); run the same command again"
    rm "$out/.incomplete"
    rmdir "$out"
    fail "'$language' is no language of Debian's package descriptions; their languages are: ${known% }"
  fi
done
mapfile -t files < <(translations "$src"; translations "$tgt"; lists '*_Packages')
echo "[data] pairing descriptions and translations"
for file in "${files[@]}"; do
  # package lists are reduced to the names of packages and of the sources that they are built from
  /usr/lib/apt/apt-helper cat-file "$file" |
    if [[ $file == *_Packages* ]]; then sed -nE '/^(Package|Source):|^$/p'; else cat; fi
  echo
done | perl -- "$(dirname -- "${BASH_SOURCE[0]}")/debian_pairs.pl" "$src" "$tgt" "$out" "$@" >"$out/statistics.txt"
cat "$out/statistics.txt"

sync "$out"/*
echo "$made" >"$out/.complete"
rm "$out/.incomplete"
