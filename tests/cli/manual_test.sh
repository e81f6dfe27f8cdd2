#!/usr/bin/env bash
# The installed man pages and completions: man has no warning about any page, pages and completions have every option that --help has,
# and bash, zsh and fish, started as a user starts them, complete commands, options, values and file names.
set -euo pipefail
for tool in man zsh fish script; do
  command -v $tool >/dev/null || { echo "skipped: $tool is not installed" >&2; exit 77; }
done
bash_completion=/usr/share/bash-completion/bash_completion
[[ -e $bash_completion ]] || { echo "skipped: bash-completion is not installed" >&2; exit 77; }
source "$SOURCE/tests/support/shell.sh"

cmake --install "$(dirname "$RNNSEARCH")" --prefix "$PWD/prefix" >install.log || fail "$(<install.log)"
share=$PWD/prefix/share
[[ -d $share/man/man1 ]] || { echo "skipped: CMake found no Perl with Pod::Man" >&2; exit 77; }

mapfile -t commands < <("$RNNSEARCH" --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p')
((${#commands[@]} > 0)) || fail "rnnsearch --help lists no commands"
export LC_ALL=C.UTF-8
for command in '' "${commands[@]}"; do
  page=$share/man/man1/rnnsearch${command:+-$command}.1
  warnings=$(man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null) || true
  [[ -z $warnings ]] || fail "man warns of $page: $warnings"
  ! grep -qE '\| (---|code) ' "$page" || fail "a table of $page is not laid out: $(grep -E '\| (---|code) ' "$page")"
done
offered() { # COMMAND...: what fish offers for this command line
  XDG_DATA_DIRS=$share HOME=$PWD fish --no-config -c "source $share/fish/vendor_completions.d/rnnsearch.fish; complete -C '$*'" | cut -f1
}
for command in "${commands[@]}"; do
  options=$("$RNNSEARCH" "$command" --help | sed -n 's/^  \(--[^ ]*\).*/\1/p')
  text=$(MANWIDTH=200 man -l "$share/man/man1/rnnsearch-$command.1" | sed -n '/^OPTIONS/,$s/^ *\(--[a-z0-9-]*\)\( [^ ]*\)\?$/\1/p')
  [[ $text == "$options" ]] || fail "the page of $command has other options: $(diff <(echo "$options") <(echo "$text"))"
  text=$(sed -n "s/^    $command) names='\(--[^']*\)' ;;/\1/p" "$share/bash-completion/completions/rnnsearch" | tr ' ' '\n')
  [[ $text == "$options" ]] || fail "bash knows other options of $command: $(diff <(echo "$options") <(echo "$text"))"
  text=$(sed -n "/^  $command)/,/;;/s/^ *'\*\?\(--[a-z0-9-]*\).*/\1/p" "$share/zsh/site-functions/_rnnsearch")
  [[ $text == "$options" ]] || fail "zsh knows other options of $command: $(diff <(echo "$options") <(echo "$text"))"
  text=$(offered "rnnsearch $command --")
  [[ $(sort <<<"$text") == "$(sort <<<"$options")" ]] ||
    fail "fish offers other options of $command: $(diff <(sort <<<"$options") <(sort <<<"$text"))"
done

# The keys that a user presses, the tabulator among them, and the arguments that the command then gets.
touch corpus.h5
keys=$'rnnsearch trai\t--prec\tbf\t--cell=ls\t--pres\trnnsearch-3\t--corp\tcorp\t\nrnnsearch insp\tcorp\t\nexit\n'
expected=$'<train><--precision><bf16><--cell=lstm><--preset><rnnsearch-30><--corpus><corpus.h5>\n<inspect><corpus.h5>'
export TERM=dumb HOME=$PWD XDG_DATA_DIRS=$share
cat >bashrc <<EOF
source $bash_completion
rnnsearch() { printf '\n@'; printf '<%s>' "\$@"; echo; }
EOF
cat >.zshrc <<EOF
fpath=($share/zsh/site-functions \$fpath)
autoload -Uz compinit && compinit -u
rnnsearch() { print -r -- $'\n'"@<\${(j:><:)@}>" }
EOF
for shell in 'bash --noprofile --rcfile bashrc -i' 'zsh -i'; do
  if [[ $shell == zsh* ]]; then keys=${keys/=/ } expected=${expected/=/><}; fi # completes values only as words of their own
  timeout 60 script -qec "$shell" /dev/null <<<"$keys" >typed || true
  said=$(tr -d '\r' <typed | sed -n 's/^@//p')
  [[ $said == "$expected" ]] || fail "$shell: the command got $said, expected $expected: $(cat -v typed)"
done

[[ $(offered 'rnnsearch trai') == train ]] || fail "fish completes trai to $(offered 'rnnsearch trai')"
[[ $(offered 'rnnsearch train --precision bf') == bf16 ]] || fail "fish completes bf to $(offered 'rnnsearch train --precision bf')"
[[ $(offered 'rnnsearch train --corpus corp') == corpus.h5 ]] || fail "fish completes corp to $(offered 'rnnsearch train --corpus corp')"
[[ $(offered 'rnnsearch inspect corp') == corpus.h5 ]] || fail "fish completes corp to $(offered 'rnnsearch inspect corp')"
