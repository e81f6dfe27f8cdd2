#!/usr/bin/env bash
# The installed module file works in a real module system.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"

init=/usr/share/modules/init/bash
[[ -e $init ]] || { echo "SKIPPED: there are no Environment Modules (Debian: environment-modules)" && exit 77; }
cmake --install "$(dirname "$RNNSEARCH")" --prefix "$PWD/tree" >install.log || fail "$(<install.log)"
mv tree "moved tree"
set +u # of the module system
# shellcheck disable=SC1090  # of the system
source "$init"
unset MANPATH XDG_DATA_DIRS
module use "$PWD/moved tree/share/modulefiles"
module load rnnsearch
[[ $(command -v rnnsearch) == "$PWD/moved tree/bin/rnnsearch" ]] || fail "module load does not find the program: $(command -v rnnsearch)"
[[ :$MANPATH: == *":$PWD/moved tree/share/man:"* ]] || fail "module load does not find the manual: ${MANPATH:-}"
[[ :$MANPATH: == *::* && $XDG_DATA_DIRS == *:/usr/share ]] || fail "module load hides the system's: $MANPATH, $XDG_DATA_DIRS"
module unload rnnsearch
[[ :$PATH: != *"moved tree"* ]] || fail "module unload leaves $PATH"
