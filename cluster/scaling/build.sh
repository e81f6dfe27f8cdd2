#!/usr/bin/env bash
# build.sh FOLDER: builds FOLDER/simulate (with SimGrid) and FOLDER/measure (with MPI); both use the engine's own
# all-reduce code, src/comm/exchange.cpp. Without SimGrid it exits with 77.
set -euo pipefail

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=${here%/*/*}
folder=${1:?build.sh: give the folder to build in}
[[ $folder != -* ]] || folder=./$folder # compilers would read it as an option
mpicxx -fsyntax-only -include simgrid/s4u.hpp -x c++ /dev/null 2>/dev/null || {
  echo "build.sh: SimGrid is missing; install libsimgrid-dev (pipelines/install.sh tests)" >&2
  exit 77
}
mkdir -p "$folder"
flags=(-std=c++20 -O3 -Wall -Wextra -DOMPI_SKIP_MPICXX -I"$root/src" -I"$root/include" -I"$here")

build() {  # PROGRAM SOURCE...
  local program=$1
  shift
  mpicxx "${flags[@]}" -include "$here/intercept.h" -c "$root/src/comm/exchange.cpp" -o "$folder/$program-exchange.o"
  mpicxx "${flags[@]}" "$@" "$root/src/comm/shard_tree.cpp" \
    "$root"/src/base/{error,printable}.cpp "$folder/$program-exchange.o" -lfmt -o "$folder/$program"
}
build simulate "$here/simulate.cpp" "$here/wire.cpp" -lsimgrid
build measure "$here/measure.cpp"
