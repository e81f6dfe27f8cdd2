#!/usr/bin/env bash
# pipelines/dependencies.sh: its list, its command line, tarballs that are missing or damaged, and a library that it builds, fails to build,
# and does not build again. The library is a small one of this test's own, which stands in for xxHash.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
unset CMAKE_PREFIX_PATH
dependencies() { "$SOURCE/pipelines/dependencies.sh" "$@"; }
refuses() { # EXIT_CODE TEXT OPTION...
  local code=$1 text=$2 got=0
  shift 2
  dependencies --prefix "$PWD/prefix" "$@" >said 2>&1 || got=$?
  [[ $got == "$code" ]] || fail "'$*' ends with $got instead of $code: $(<said)"
  [[ $(<said) == dependencies:*"$text"* ]] || fail "'$*' is refused without '$text': $(<said)"
  [[ $(wc -l <said) == 1 ]] || fail "'$*' is refused in more than a sentence: $(<said)"
}

# --- the list ---
dependencies --list >list
(($(wc -l <list) > 10)) || fail "the list is short: $(<list)"
! grep -vE '^https://[^ ]*[a-zA-Z0-9][-_][0-9][^ /]*\.(tar\.(gz|bz2|xz)|tgz)$' list || fail "not all addresses name a tarball by name and version"
[[ $(sed 's|.*/||' list | sort -u | wc -l) == $(wc -l <list) ]] || fail "two tarballs have one name: $(<list)"
[[ $(dependencies --list xxhash) == *xxHash* ]] || fail "the list of xxhash: $(dependencies --list xxhash)"
[[ $(dependencies --list --without xxhash,hdf5) == "$(grep -vE 'xxHash|hdf5' list)" ]] || fail "--without leaves libraries in the list"

# --- the command line ---
refuses 2 "there is no library 'hdf4'; the names are pkgconf zlib" hdf4
refuses 2 "there is no library 'hdf4'" --without zlib,hdf4
refuses 2 "there is no library 'hdf4'" --use hdf4=hdf4.tar.gz
refuses 2 "--use zlib must be NAME=FILE" --use zlib
refuses 2 "--prefix needs a value" --prefix
refuses 2 "unknown option --help-me" --help-me
refuses 1 "because of the white space" --prefix "white space"
grep -q -- '--tarballs DIR' <<<"$(dependencies --help)" || fail "--help does not explain --tarballs"

# --- missing and damaged tarballs: nothing is built before all of them are whole ---
mkdir tarballs
xxhash=$(dependencies --list xxhash) xxhash=${xxhash##*/}
refuses 1 "1 of 1 tarballs cannot be read: tarballs/$xxhash; download" xxhash
refuses 1 "of $(($(wc -l <list) - 1)) tarballs cannot be read" --without pkgconf
refuses 1 "1 of 1 tarballs cannot be read: none.tar.gz" --use xxhash=none.tar.gz xxhash
echo "a proxy's error page" >"tarballs/$xxhash"
found=$(sha256sum <"tarballs/$xxhash") found=${found%% *}
refuses 1 "tarballs/$xxhash is damaged or another version: its SHA-256 sum is $found, expected" xxhash
refuses 1 "1 of 2 tarballs cannot be read: tarballs/zstd" --use xxhash="tarballs/$xxhash" xxhash zstd
[[ ! -e prefix ]] || fail "something was built: $(find prefix)"

# --- a library is built once, again from another tarball, and a failure is shown ---
mkdir -p xxHash-1/cmake_unofficial
echo 'int answer(void) { return ANSWER; }' >xxHash-1/cmake_unofficial/answer.c
cat >xxHash-1/cmake_unofficial/CMakeLists.txt <<'EOF_CMAKE'
cmake_minimum_required(VERSION 3.10)
project(answer C)
add_library(answer answer.c)
install(TARGETS answer)
EOF_CMAKE
tar -czf first.tar.gz xxHash-1
installed=prefix/lib/libanswer.so
if dependencies --prefix prefix --use xxhash=first.tar.gz xxhash >said 2>&1; then fail "it built what cannot be compiled: $(<said)"; fi
grep -q ANSWER said || fail "the compiler's error is not shown: $(<said)"
grep -q '^dependencies: building xxhash failed' said || fail "the failure has no sentence: $(<said)"
[[ ! -e $installed ]] || fail "a library that cannot be compiled is installed"

sed -i 's/ANSWER/42/' xxHash-1/cmake_unofficial/answer.c
tar -czf second.tar.gz xxHash-1
build_second() { dependencies --prefix prefix --use xxhash=second.tar.gz xxhash >said 2>&1 || fail "$(<said)"; }
build_second
[[ -e $installed ]] || fail "the library is not installed: $(find prefix)"
grep -q "xxhash: unchecked, because of --use; SHA-256 $(sha256sum <second.tar.gz | cut -d ' ' -f 1)" said || fail "no sum: $(<said)"
grep -q "CMAKE_PREFIX_PATH=$PWD/prefix" said || fail "no next step: $(<said)"
touch -d @0 "$installed"
build_second
[[ $(stat -c %Y "$installed") == 0 ]] || fail "a library that was complete is built again: $(<said)"
echo >>xxHash-1/cmake_unofficial/answer.c
tar -czf second.tar.gz xxHash-1
build_second
[[ $(stat -c %Y "$installed") != 0 ]] || fail "another tarball is not built: $(<said)"
