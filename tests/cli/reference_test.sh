#!/usr/bin/env bash
# Every command has a page, src/cli/commands/COMMAND.md, the table in src/cli/README.md lists all of them, and there are no other pages.
set -euo pipefail
failures=0
complain() { echo "reference_test: $*" >&2 && failures=$((failures + 1)); }
mapfile -t commands < <("$RNNSEARCH" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
((${#commands[@]} > 0)) || complain "rnnsearch --help lists no commands"
for command in "${commands[@]}"; do
  [[ -e $SOURCE/src/cli/commands/$command.md ]] || complain "the command $command has no page src/cli/commands/$command.md"
  grep -q "(commands/$command.md)" "$SOURCE/src/cli/README.md" || complain "src/cli/README.md does not list $command"
done
for page in "$SOURCE"/src/cli/commands/*.md; do
  [[ " ${commands[*]} " == *" $(basename "$page" .md) "* ]] || complain "$page is the page of no command"
done
((failures == 0))
