#!/usr/bin/env bash
# The version that CMake finds: from a tag of git, from a commit without tags, from the name of a tarball's folder, or the project's.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
command -v git >/dev/null || { echo "skipped: git is not installed" >&2; exit 77; }

expect() { # VERSION FOLDER
  local found
  mkdir -p "$2"
  found=$(cd "$2" && cmake -D PROJECT_VERSION=0.1.0 -P "$SOURCE/pipelines/package/version.cmake")
  [[ $found == "-- rnnsearch $1" ]] || fail "$2: found $found, expected $1"
}
export GIT_CEILING_DIRECTORIES=$PWD GIT_CONFIG_GLOBAL=/dev/null
expect 0.1.0 somewhere
expect 1.2.3-rc1 rnnsearch-1.2.3-rc1
expect 1.2.3 rnnsearch-v1.2.3
expect 0.1.0+gad3be43 rnnsearch-ad3be43f0e1d2c3b4a5968778695a4b3c2d1e0f0
commit() { git -C work -c user.name=test -c user.email=test@localhost commit -q --allow-empty -m "$1"; }
git init -q work
expect 0.1.0 work # no commit
commit first
expect "0.1.0+g$(git -C work rev-parse --short HEAD)" work
git -C work tag v1.0
expect 1.0 work
commit second
expect "1.0-1-g$(git -C work rev-parse --short HEAD)" work
expect 0.1.0 work/vendored # a folder of another project
[[ $("$RNNSEARCH" --version | head -n 1) == "rnnsearch "[0-9]* ]] || fail "--version: $("$RNNSEARCH" --version)"
