#!/usr/bin/env bash
# The pages of the commands, src/cli/commands/COMMAND.md: every command has one, each ends with what `rnnsearch COMMAND --help`
# prints, and the table in src/cli/README.md lists all of them. `bash tests/cli/reference_test.sh --update` writes these ends, from
# the program that RNNSEARCH names, or build/rnnsearch.
set -euo pipefail
SOURCE=${SOURCE:-$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)}
RNNSEARCH=${RNNSEARCH:-$SOURCE/build/rnnsearch}
pages=$SOURCE/src/cli/commands
failures=0
complain() { echo "reference_test: $*" >&2 && failures=$((failures + 1)); }

mapfile -t commands < <("$RNNSEARCH" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
((${#commands[@]} > 0)) || complain "rnnsearch --help lists no commands"

# COMMAND: its page up to the options as it stands, then the options as the program has them
page_of() {
  sed '/^## Options$/,$d' "$pages/$1.md"
  printf '## Options\n\n```\n'
  "$RNNSEARCH" "$1" --help
  printf '```\n'
}

for command in "${commands[@]}"; do
  if [[ ! -e $pages/$command.md ]]; then
    complain "the command $command has no page src/cli/commands/$command.md"
  elif [[ ${1:-} == --update ]]; then
    page_of "$command" >"$pages/$command.md.tmp"
    mv "$pages/$command.md.tmp" "$pages/$command.md"
  elif ! diff "$pages/$command.md" <(page_of "$command") >&2; then
    complain "src/cli/commands/$command.md differs from --help (above, > is the program);" \
      "run: bash tests/cli/reference_test.sh --update"
  fi
  grep -q "(commands/$command.md)" "$SOURCE/src/cli/README.md" || complain "src/cli/README.md does not list $command"
done
for page in "$pages"/*.md; do
  [[ " ${commands[*]} " == *" $(basename "$page" .md) "* ]] || complain "$page is the page of no command"
done
((failures == 0))
