#!/usr/bin/env bash
# tests/repository/tidy.sh [WORD...]: runs the checks of .clang-tidy (Debian's clang-tidy 14) over all sources of src/, or those whose path
# contains one of the words. Run it by hand, because it takes too long for a test. Needs a configured build folder (pipelines/build.sh).
set -euo pipefail
CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
command -v clang-tidy-14 >/dev/null || { echo "tidy.sh: there is no clang-tidy-14; on Debian: apt-get install clang-tidy" >&2; exit 1; }

build=${RNNSEARCH_BUILD:-build}
[[ -e $build/compile_commands.json ]] || { echo "tidy.sh: $build is not configured; run pipelines/build.sh first" >&2; exit 1; }
mapfile -t sources < <(find src -name '*.cpp' | sort | grep -F "$(printf '%s\n' "${@:-src/}")")
((${#sources[@]} > 0)) || { echo "tidy.sh: no source of src/ has one of these in its path: $*" >&2; exit 1; }
echo "[tidy] ${#sources[@]} sources"
# Clang cannot read GCC's precompiled header, and sources include what they use.
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
sed -E 's/ -Winvalid-pch -include [^ ]*cmake_pch\.hxx//' "$build/compile_commands.json" >"$commands/compile_commands.json"
# Clang may not know every warning option of the compiler that the folder is configured for, and counts sign conversions to -Wconversion.
printf '%s\0' "${sources[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy-14 -p "$commands" --quiet --extra-arg=-Wno-unknown-warning-option \
    --extra-arg=-Wno-sign-conversion 2> >(grep -v ' warnings\? generated' >&2)
echo "[tidy] nothing found"
