#!/usr/bin/env bash
# cmake --install: everything arrives under any prefix or DESTDIR, nothing refers to the build folder, what the installed texts link to is
# installed, and an installed tree that is moved still works: the program, and the scripts for clusters, which find it.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
build=$(dirname "$RNNSEARCH")

cmake --install "$build" --prefix "$PWD/first" >install.log || fail "$(<install.log)"
DESTDIR=$PWD/stage cmake --install "$build" --prefix /opt/translator >>install.log || fail "$(<install.log)"
different=$(diff -r first stage/opt/translator) || fail "DESTDIR installs other files: $different"
outside=$(find stage -not -type d -not -path 'stage/opt/translator/*')
[[ -z $outside ]] || fail "installed outside the prefix: $outside"

moved="$PWD/moved tree"
mv first "$moved"
for file in bin/rnnsearch share/rnnsearch/cluster/{experiment,node_check,run,submit,common.sh,job.sbatch,site.sh} \
  share/doc/rnnsearch/{README.md,cluster/README.md,src/cli/commands/train.md,pipelines/presets/small.ini}; do
  [[ -e $moved/$file ]] || fail "$file was not installed: $(cd "$moved" && find . -type f | sort)"
done
links=0
while IFS=: read -r document link; do
  links=$((links + 1))
  [[ -e $(dirname "$document")/$link ]] || fail "${document#"$moved"/} links to $link, which was not installed"
done < <(grep -roP --include='*.md' '\]\(\K(?![a-z]+:)[^()#\s]+' "$moved/share/doc")
((links > 50)) || fail "only $links links in the installed texts"
named=$(grep -rlF -e "$build" -e "$SOURCE" "$moved" | grep -v '/bin/rnnsearch$') || true # the program names its sources in messages
[[ -z $named ]] || fail "these name the build folder or the sources: $named"
paths=$(readelf -d "$moved/bin/rnnsearch" | sed -n 's/.*R\(UN\)\?PATH.*\[\(.*\)\]/\2/p')
[[ $paths != *"$build"* ]] || fail "the installed program looks for libraries in the build folder: $paths"
[[ $(ldd "$moved/bin/rnnsearch") != *"not found"* ]] || fail "libraries are not found: $(ldd "$moved/bin/rnnsearch")"
"$moved/bin/rnnsearch" --version | cmp - <("$RNNSEARCH" --version) || fail "the installed program has another version"

unset RNNSEARCH
printf 'a b\n' >text
(cd "$moved/share/rnnsearch/cluster" && AFTER_STOP=requeue ./submit --dry-run translate --model run --output out) >job ||
  fail "submit: $(<job)"
grep -qxF "export RNNSEARCH='$moved/bin/rnnsearch'" job || fail "the job does not start the installed program: $(<job)"
LAUNCHER='env' "$moved/share/rnnsearch/cluster/run" prepare --train-source text --train-target text --output corpus.h5 >log 2>&1 ||
  fail "run: $(<log)"
[[ -e corpus.h5 ]] || fail "run did not start prepare: $(<log)"
