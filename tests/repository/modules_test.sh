#!/usr/bin/env bash
# The installed module file works in a real module system; Spack's recipe asks for what CMakeLists.txt looks for, and
# pipelines/dependencies.sh builds it; the two recipes of an image agree. With SPACK_PACKAGES, the folder of a clone of Spack's repository
# of packages, also whether it has each package.
set -euo pipefail
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# --- Spack's recipe ---
# The package of Spack that brings what a line of CMakeLists.txt finds; MPI and TBB are virtual packages with several providers.
declare -A package_of=([TBB]=tbb [HDF5]=hdf5 [MPI]=mpi [ICU]=icu4c [Boost]=boost [nlohmann_json]=nlohmann-json [pugixml]=pugixml
  [ZLIB]=zlib-api [LibLZMA]=xz [libhwy]=highway [re2]=re2 [sentencepiece]=sentencepiece [libxxhash]=xxhash [libzstd]=zstd [PkgConfig]=pkgconfig)
recipe=$SOURCE/cluster/spack/spack_repo/rnnsearch/packages/rnnsearch/package.py
python=$(command -v python3) || { echo "SKIPPED: there is no python3" && exit 77; }
"$python" - "$recipe" >dependencies <<'EOF_PYTHON'
import ast, sys
for node in ast.walk(ast.parse(open(sys.argv[1]).read())):
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "depends_on":
        if not any(k.arg == "type" and "test" in ast.literal_eval(k.value) for k in node.keywords):
            print(*ast.literal_eval(node.args[0]).split()[0].replace(":", "").split("@"))
EOF_PYTHON
mapfile -t found < <(sed -nE 's/^find_package\(([A-Za-z0-9_]+) ([0-9.]*).*/\1 \2/p; s/^pkg_check_modules\(.* ([a-z0-9]+)>=([0-9.]+).*/\1 \2/p' "$SOURCE/CMakeLists.txt")
((${#found[@]} > 10)) || fail "CMakeLists.txt looks for ${#found[@]} libraries only: ${found[*]}"
for line in "${found[@]}"; do
  read -r library version <<<"$line"
  [[ $library == Threads ]] && continue # of the C library
  package=${package_of[$library]:-}
  [[ -n $package ]] || fail "CMakeLists.txt looks for $library; add it to Spack's recipe, and its package to the table of this test"
  case $package in
    tbb | zlib-api | pkgconfig) version='' ;; # virtual packages have versions of their own
    re2) version=2023-09-01 ;;                # pkg-config's version is that of the library, Spack's the date of the release
  esac
  grep -qx -- "$package${version:+ $version}" dependencies ||
    fail "Spack's recipe does not depend on $package${version:+@$version:}, which brings $library: $(grep "^$package" dependencies)"
  [[ $library == MPI ]] && continue # of the site
  name=$(sed 's/^zlib-api$/zlib/; s/^icu4c$/icu/; s/^pkgconfig$/pkgconf/' <<<"$package")
  "$SOURCE/pipelines/dependencies.sh" --list "$name" >address || fail "pipelines/dependencies.sh does not build $name, which brings $library"
done
if [[ -n ${SPACK_PACKAGES:-} ]]; then
  while read -r package version; do
    [[ $package == c || $package == cxx ]] && continue # languages
    folder=$SPACK_PACKAGES/repos/spack_repo/builtin/packages
    [[ -d $folder/${package//-/_} ]] || grep -rqE "provides\(\"$package\"" "$folder" --include=package.py ||
      fail "Spack has no package $package"
  done <dependencies
fi

# --- the two recipes of an image: both copy the same files and take the same steps ---
recipes=$SOURCE/cluster/container
sed -n 's/^COPY //p' "$recipes/Containerfile" | awk '{for (i = 1; i < NF; ++i) if ($i !~ /^--/) print $i}' | sort >copied
awk '/^%/ {files = $1 == "%files"; next} files && NF {print $1}' "$recipes/rnnsearch.def" | sort >copied.def
cmp -s copied copied.def || fail "Containerfile and rnnsearch.def copy other files: $(diff copied copied.def)"
while read -r file; do [[ $file == /* || -e $SOURCE/$file ]] || fail "Containerfile copies $file, which does not exist"; done <copied
for recipe in Containerfile rnnsearch.def; do
  [[ $(grep -v '^COPY' "$recipes/$recipe" | grep -o 'steps [a-z]*$' | xargs) == "steps build steps install" ]] ||
    fail "$recipe takes other steps than build and install"
done

# --- the module file ---
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
