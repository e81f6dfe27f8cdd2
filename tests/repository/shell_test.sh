#!/usr/bin/env bash
# ShellCheck finds nothing in any shell script of the project, nor in the files that scripts source, and every line that disables a check
# gives a reason.
set -euo pipefail
command -v shellcheck >/dev/null || { echo "skipped: shellcheck is not installed" >&2; exit 77; }

scripts() { # FOLDER: prints the scripts in it, each followed by a zero byte
  local file first
  # build* and runs are generated, and node_modules is not ours
  find "$1" \( -path "$1/build*" -o -path "$1/runs" -o -name node_modules -o -name .git \) -prune -o -type f -print0 |
    while IFS= read -rd '' file; do
      IFS= read -r first <"$file" 2>/dev/null || true
      [[ $file != *.sh && ! $first =~ ^#!.*[/\ ](ba|da|k)?sh( |$) ]] || printf '%s\0' "$file"
    done 2>/dev/null # bash warns of zero bytes in files that are not scripts
}
check() { # FOLDER: prints what is wrong with them
  local files
  mapfile -d '' files < <(scripts "$1")
  ((${#files[@]} > 0)) || { echo "$1: there are no scripts" && return; }
  printf '%s\0' "${files[@]}" | (cd "$1" && xargs -0 -n 8 -P 2 shellcheck --format=gcc) || true
  grep -HnE '# shellcheck disable=[A-Z0-9,]+ *$' "${files[@]}" | sed 's/$/: a disabled check without a reason/' || true
}

found=$(check "$SOURCE")
if [[ -n $found ]]; then
  printf 'shellcheck finds:\n%s\n' "$found"
  exit 1
fi
