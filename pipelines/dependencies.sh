#!/usr/bin/env bash
# Builds the libraries of rnnsearch from source tarballs in a folder of yours: for machines without root, internet and Spack.
#   pipelines/dependencies.sh --list [NAME...]          prints where to download the tarballs, one address a line
#   pipelines/dependencies.sh [OPTION VALUE]... [NAME...]   builds all libraries, or those named
#     --tarballs DIR         folder of the downloaded tarballs [tarballs]
#     --prefix DIR           folder to install into, which can be deleted as a whole [~/rnnsearch-libraries]
#     --without NAME[,...]   libraries to leave out because the system or a module has them (repeatable)
#     --use NAME=FILE        build another version of a library, from this tarball (repeatable)
# Compiler, make, CMake and MPI come from the system or from modules; CC, CXX, CFLAGS and CXXFLAGS are those of the environment, and
# CMAKE_BUILD_PARALLEL_LEVEL is the number of processes (all cores). What is already built is not built again. Exit codes: 1 an error, 2 a
# wrong command line.
set -euo pipefail

# Name and address of each tarball, and its SHA-256 sum. Versions and sums are those of Spack's packages
# (https://github.com/spack/spack-packages, repos/spack_repo/builtin/packages/NAME/package.py) except for three. SentencePiece has
# version and sum of Homebrew's formula, because 0.2.2 would download Abseil during its build. So has RE2: later releases than this need
# Abseil, and those before December 2022 install no re2.pc when CMake builds them. So has fmt, whose version is Debian's.
# In an address of GitHub with /archive/ the last part only names the file.
table='
  pkgconf       https://distfiles.ariadne.space/pkgconf/pkgconf-2.5.1.tar.xz
    cd05c9589b9f86ecf044c10a2269822bc9eb001eced2582cfffd658b0a50c243
  zlib          https://zlib.net/fossils/zlib-1.3.2.tar.gz
    bb329a0a2cd0274d05519d61c667c062e06990d72e125ee2dfa8de64f0119d16
  hdf5          https://support.hdfgroup.org/releases/hdf5/v1_14/v1_14_6/downloads/hdf5-1.14.6.tar.gz
    e4defbac30f50d64e1556374aa49e574417c9e72c6b1de7a4ff88c4b1bea6e9b
  tbb           https://github.com/uxlfoundation/oneTBB/archive/v2022.1.0/oneTBB-2022.1.0.tar.gz
    ed067603ece0dc832d2881ba5c516625ac2522c665d95f767ef6304e34f961b5
  highway       https://github.com/google/highway/archive/1.2.0/highway-1.2.0.tar.gz
    7e0be78b8318e8bdbf6fa545d2ecb4c90f947df03f7aadc42c1967f019e63343
  xxhash        https://github.com/Cyan4973/xxHash/archive/v0.8.3/xxHash-0.8.3.tar.gz
    aae608dfe8213dfd05d909a57718ef82f30722c392344583d3f39050c7f29a80
  zstd          https://github.com/facebook/zstd/archive/v1.5.7/zstd-1.5.7.tar.gz
    37d7284556b20954e56e1ca85b80226768902e2edabd3b649e9e72c0c9012ee3
  xz            https://github.com/tukaani-project/xz/releases/download/v5.8.3/xz-5.8.3.tar.bz2
    33bf69c0d6c698e83a68f77e6c1f465778e418ca0b3d59860d3ab446f4ac99a6
  icu           https://github.com/unicode-org/icu/releases/download/release-76-1/icu4c-76_1-src.tgz
    dfacb46bfe4747410472ce3e1144bf28a102feeaa4e3875bac9b4c6cf30f4f3e
  re2           https://github.com/google/re2/archive/2023-03-01/re2-2023-03-01.tar.gz
    7a9a4824958586980926a300b4717202485c4b4115ac031822e29aa4ef207e48
  sentencepiece https://github.com/google/sentencepiece/archive/v0.2.0/sentencepiece-0.2.0.tar.gz
    9970f0a0afee1648890293321665e5b2efa04eaec9f1671fcf8048f456f5bb86
  fmt           https://github.com/fmtlib/fmt/archive/9.1.0/fmt-9.1.0.tar.gz
    5dea48d1fcddc3ec571ce2058e13910a0d4a6bab4cc09a809d8b1dd1c88ae6f2
  nlohmann-json https://github.com/nlohmann/json/archive/v3.12.0/json-3.12.0.tar.gz
    4b92eb0c06d10683f7447ce9406cb97cd4b453be18d7279320f7b2f025c10187
  pugixml       https://github.com/zeux/pugixml/releases/download/v1.14/pugixml-1.14.tar.gz
    2f10e276870c64b1db6809050a75e11a897a8d7456c4be5c6b2e35a11168a015
'
build() { # NAME: builds and installs it from its source, which is the working folder
  case $1 in
    pkgconf) # by default it takes its own prefix for the system's, and leaves out the -I and -L of what is installed there
      with_configure . --with-system-includedir=/usr/include --with-system-libdir=/usr/lib64:/usr/lib:/lib64:/lib \
        --with-pkg-config-dir="$prefix/lib/pkgconfig:$prefix/share/pkgconfig:/usr/lib64/pkgconfig:/usr/lib/pkgconfig:/usr/share/pkgconfig"
      ;;
    zlib) with_configure . ;;
    hdf5) with_cmake . -DBUILD_STATIC_LIBS=OFF -DHDF5_ENABLE_Z_LIB_SUPPORT=ON -DHDF5_ENABLE_SZIP_SUPPORT=OFF -DHDF5_BUILD_TOOLS=OFF \
      -DHDF5_BUILD_HL_LIB=OFF -DHDF5_BUILD_CPP_LIB=OFF -DHDF5_BUILD_EXAMPLES=OFF ;;
    tbb) with_cmake . -DTBB_TEST=OFF -DTBB_STRICT=OFF -DTBBMALLOC_BUILD=OFF -DTBB_DISABLE_HWLOC_AUTOMATIC_SEARCH=ON ;;
    highway) with_cmake . -DHWY_ENABLE_TESTS=OFF -DHWY_ENABLE_EXAMPLES=OFF ;;
    xxhash) with_cmake cmake_unofficial -DXXHASH_BUILD_XXHSUM=OFF ;;
    zstd) with_cmake build/cmake -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_BUILD_STATIC=OFF ;;
    xz) with_cmake . -DXZ_NLS=OFF -DXZ_DOC=OFF -DXZ_TOOL_{XZ,XZDEC,LZMADEC,LZMAINFO,SCRIPTS}=OFF ;;
    icu) with_configure source --enable-rpath --disable-tests --disable-samples --disable-extras --disable-icuio --disable-layoutex ;;
    re2) with_cmake . -DRE2_BUILD_TESTING=OFF ;;
    sentencepiece) with_cmake . -DSPM_ENABLE_TCMALLOC=OFF ;;
    fmt) with_cmake . -DFMT_TEST=OFF -DFMT_DOC=OFF ;;
    nlohmann-json) with_cmake . -DJSON_BuildTests=OFF ;;
    pugixml) with_cmake . ;;
  esac
}
with_cmake() { # FOLDER OPTION...
  cmake -S "$1" -B build-rnnsearch -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_INSTALL_RPATH="$prefix/lib" -DBUILD_SHARED_LIBS=ON -DBUILD_TESTING=OFF -DCMAKE_POLICY_VERSION_MINIMUM=3.5 "${@:2}" &&
    cmake --build build-rnnsearch --parallel "$jobs" && cmake --install build-rnnsearch
}
with_configure() { # FOLDER OPTION...
  cd "$1" && ./configure --prefix="$prefix" "${@:2}" && make -j "$jobs" && make install
}

usage() {
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
}
fail() { # EXIT_CODE WORD...
  local words=${*:2}
  echo "dependencies: ${words//[[:cntrl:]]/?}" >&2
  exit "$1"
}
declare -A sum address use
names=()
while read -r name one_address && read -r one_sum; do
  names+=("$name") address[$name]=$one_address sum[$name]=$one_sum
done < <(grep . <<<"$table")
known() { # NAME
  [[ -n ${1:-} && -n ${sum[$1]:-} ]] || fail 2 "there is no library ${1@Q}; the names are ${names[*]}"
}

tarballs=tarballs prefix=~/rnnsearch-libraries list='' without=() wanted=()
while (($# > 0)); do
  case $1 in
    --help) usage && exit 0 ;;
    --list) list=yes && shift && continue ;;
    --tarballs | --prefix | --without | --use) [[ -n ${2:-} ]] || fail 2 "$1 needs a value; see pipelines/dependencies.sh --help" ;;
    -*) fail 2 "unknown option $1; see pipelines/dependencies.sh --help" ;;
    *) known "$1" && wanted+=("$1") && shift && continue ;;
  esac
  case $1 in
    --tarballs) tarballs=$2 ;;
    --prefix) prefix=$(realpath -m -- "$2") ;;
    --without) IFS=, read -ra more <<<"$2" && for name in "${more[@]}"; do known "$name"; done && without+=("${more[@]}") ;;
    --use)
      [[ $2 == *=?* ]] || fail 2 "--use $2 must be NAME=FILE; the names are ${names[*]}"
      known "${2%%=*}" && use[${2%%=*}]=${2#*=}
      ;;
  esac
  shift 2
done
((${#wanted[@]} > 0)) || {
  wanted=("${names[@]}")
  # The site's own also knows where the site's libraries are.
  [[ -n $list ]] || ! command -v pkg-config pkgconf >/dev/null || without+=(pkgconf)
}
for name in "${without[@]}"; do
  for i in "${!wanted[@]}"; do [[ ${wanted[i]} != "$name" ]] || unset "wanted[$i]"; done
done
if [[ -n $list ]]; then
  for name in "${wanted[@]}"; do echo "${address[$name]}"; done
  exit 0
fi
[[ $prefix != *[[:space:]]* ]] ||
  fail 1 "the configure scripts of some libraries cannot install into '$prefix', because of the white space; name another --prefix"
for tool in cmake make; do
  command -v $tool >/dev/null || fail 1 "there is no $tool on PATH, which builds the libraries; load the site's module for it"
done

# All tarballs are checked before the first library is built. A library is built when its stamp holds the sum of its tarball.
stamps=$prefix/share/rnnsearch-libraries
declare -A file_of found_of
missing=()
for name in "${wanted[@]}"; do
  stamp=$(cat -- "$stamps/$name" 2>/dev/null) || true
  [[ -n ${use[$name]:-} || $stamp != "${sum[$name]}" ]] || continue
  file=${use[$name]:-$tarballs/${address[$name]##*/}}
  [[ -f $file && -r $file ]] || { missing+=("$file") && continue; }
  found=$(sha256sum <"$file") found=${found%% *}
  if [[ -z ${use[$name]:-} && $found != "${sum[$name]}" ]]; then
    fail 1 "$file is damaged or another version: its SHA-256 sum is $found, expected ${sum[$name]}; download it again from" \
      "${address[$name]}, or build it as it is with --use $name=$file"
  fi
  [[ $found == "$stamp" ]] || file_of[$name]=$file found_of[$name]=$found
done
((${#missing[@]} == 0)) || fail 1 "${#missing[@]} of ${#wanted[@]} tarballs cannot be read: ${missing[*]}; download them where there is" \
  "internet (pipelines/dependencies.sh --list | xargs -n 1 wget) and put them into $tarballs, or name others with --use NAME=FILE"

jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
# HDF5 needs zlib, and rnnsearch's own libraries go before those of modules.
export CMAKE_PREFIX_PATH=$prefix${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}
mkdir -p -- "$stamps" "$prefix/source"
for name in "${wanted[@]}"; do
  [[ -n ${file_of[$name]:-} ]] || { echo "[dependencies] $name: already built" && continue; }
  source=$prefix/source/$name
  echo "[dependencies] $name: building ${file_of[$name]##*/}"
  [[ ${found_of[$name]} == "${sum[$name]}" ]] || echo "[dependencies] $name: unchecked, because of --use; SHA-256 ${found_of[$name]}"
  rm -rf -- "$source" "${stamps:?}/$name"
  mkdir -- "$source"
  tar -xf "${file_of[$name]}" -C "$source" --strip-components=1 || fail 1 "${file_of[$name]} cannot be unpacked (tar's reason is above)"
  (cd "$source" && build "$name") >"$source.log" 2>&1 || {
    tail -n 30 "$source.log" >&2
    fail 1 "building $name failed (the last lines of its output are above, all of it is in $source.log)"
  }
  rm -rf -- "$source"
  echo "${found_of[$name]}" >"$stamps/$name"
done
echo "[dependencies] done; build rnnsearch with: pipelines/build.sh -- -DCMAKE_PREFIX_PATH=$prefix"
