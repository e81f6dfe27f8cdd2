#!/usr/bin/env bash
# clang-format of Debian 12 leaves every C++ source as it is (otherwise run clang-format-14 -i FILE), and no text file has spaces at the
# end of a line.
set -euo pipefail
command -v clang-format-14 >/dev/null || { echo "skipped: clang-format-14 is not installed" >&2; exit 77; }

check() { # FOLDER: prints what is wrong with its files
  local places=()
  for place in CMakeLists.txt README.md .clang-format .clang-tidy .editorconfig .ci src include pipelines cluster data tests; do
    [[ ! -e $1/$place ]] || places+=("$1/$place")
  done
  # seeds may have any bytes, an empty line of a patch is a blank, and node_modules is not ours
  find "${places[@]}" \( -path '*/fuzz/seeds' -o -name node_modules \) -prune -o \
    \( -name '*.cpp' -o -name '*.h' \) -print0 |
    xargs -0 clang-format-14 --dry-run --ferror-limit=1 2>&1 | grep 'warning: code should be' | sed "s|^$1/||" || true
  grep -rnIE --exclude-dir=seeds --exclude-dir=node_modules --exclude='*.patch' '[[:blank:]]+$' "${places[@]}" |
    sed "s|^$1/||; s|\$|: blanks at the end|" || true
}

found=$(check "$SOURCE")
if [[ -n $found ]]; then
  printf 'Not formatted (clang-format-14 -i FILE):\n%s\n' "$found"
  exit 1
fi
