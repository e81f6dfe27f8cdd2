#!/usr/bin/env bash
# tests/recipes.sh [NAME...]: do the recipes of src/CONTRIBUTING.md work? Each file tests/recipes/NAME.patch follows one of them.
# In a scratch copy of the project (build/recipes), applies it, builds what its line `build:` names, runs its lines `run:` in the
# build folder, and prints the files and lines that the recipe took. Run it by hand after work on what the recipes touch.
# tests/recipes.sh --check: checks only whether each patch applies to the sources; repository_recipes_test runs this.
set -euo pipefail
CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
project=$PWD

check=''
[[ ${1:-} != --check ]] || { check=yes && shift; }
if (($# == 0)); then
  mapfile -t names < <(basename -s .patch tests/recipes/*.patch)
  set -- "${names[@]}"
fi
for name; do
  [[ -f tests/recipes/$name.patch ]] || { echo "recipes.sh: there is no tests/recipes/$name.patch" >&2 && exit 1; }
done

if [[ $check ]]; then
  for name; do
    said=$(patch --dry-run --batch --forward --fuzz 1 --strip 1 <"tests/recipes/$name.patch") ||
      { echo "recipes.sh: tests/recipes/$name.patch no longer applies; follow the recipe again on today's sources: $said" >&2 && exit 1; }
  done
  exit
fi

copy=${RNNSEARCH_BUILD:-$project/build}/recipes/project
log=$copy.log
rm -rf "$copy"/{src,include,tests,pipelines,cluster}
mkdir -p "$copy/build"
# tar keeps the times of files, so that a second run builds only what has changed
tar -c CMakeLists.txt src include tests pipelines cluster | tar -x -C "$copy"
cd "$copy"
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release >"$log"
for name; do
  recipe=$project/tests/recipes/$name.patch
  echo "[recipes] $name: $(head -n 1 "$recipe")"
  patch --batch --forward --fuzz 1 --strip 1 <"$recipe" >"$log"
  mapfile -t targets < <(sed -n 's/^build: //p' "$recipe" | tr ' ' '\n')
  ninja -C build "${targets[@]}" >"$log" || { tail -n 40 "$log" >&2 && exit 1; }
  while IFS= read -r command; do
    echo "[recipes]   $command"
    (cd build && bash -euo pipefail -c "$command") >"$log" 2>&1 || { tail -n 40 "$log" >&2 && exit 1; }
    sed 's/^/[recipes]     /' < <(tail -n 3 "$log")
    # a test filter that matches nothing would pass
    ! grep -q 'PASSED  ] 0 tests' "$log" || { echo "recipes.sh: $command runs no test" >&2 && exit 1; }
  done < <(sed -n 's/^run: //p' "$recipe")
  awk '/^\+\+\+ /{file = substr($2, 3)} /^\+[^+]/ || /^\+$/ {lines[file]++} END {for (f in lines) printf "[recipes]   %3d lines %s\n", lines[f], f}' \
    "$recipe" | sort -k 4
  patch --batch --reverse --strip 1 <"$recipe" >"$log" # with new times, so that the next build sees it
done
