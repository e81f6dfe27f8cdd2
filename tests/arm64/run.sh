#!/usr/bin/env bash
# tests/arm64/run.sh [CTEST_ARGUMENT...]: builds the unit tests for arm64 with Debian's cross compiler, and runs them in QEMU on
# processors with NEON alone and with SVE of 128, 256 and 512 bits. Run it by hand; it takes an hour or more on two cores.
# Needs g++-aarch64-linux-gnu, qemu-user and pkg-config, and loads the arm64 packages of the libraries into build/arm64 (no root).
set -euo pipefail
CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

for program in aarch64-linux-gnu-g++ qemu-aarch64 pkg-config; do
  command -v "$program" >/dev/null || {
    echo "arm64: there is no $program; on Debian: apt-get install g++-aarch64-linux-gnu qemu-user pkg-config" >&2
    exit 1
  }
done
build=$(realpath -m -- "${RNNSEARCH_BUILD:-build}")/arm64
export ARM64_SYSROOT=$build/sysroot

if [[ ! -e $build/sysroot.complete ]]; then
  state=$build/apt
  mkdir -p "$state"/{lists,archives}/partial "$ARM64_SYSROOT"
  : >"$state/status" # as if nothing were installed, so that apt loads the dependencies of all packages
  apt() {
    apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$state" -o Dir::State::Lists="$state/lists" \
      -o Dir::State::status="$state/status" -o Dir::Cache="$state" -o Dir::Cache::archives="$state/archives" "$@" >/dev/null
  }
  mapfile -t packages < <(sed -n 's/^  \(\(lib\|nlohmann\|zlib\)[^ ]*-dev\) .*/\1/p' pipelines/install.sh | grep -vE "simgrid|mpich")
  apt update
  apt install -y --download-only --no-install-recommends "${packages[@]}" openmpi-bin libstdc++6
  for package in "$state"/archives/*.deb; do dpkg -x "$package" "$ARM64_SYSROOT"; done
  touch "$build/sysroot.complete"
fi

cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=ON \
  -DCMAKE_TOOLCHAIN_FILE="$PWD/tests/arm64/toolchain.cmake" >"$build/configure.log"
modules=$(printf '%s\n' src/*/ | cut -d/ -f2 | paste -sd '|')
ninja -C "$build" unit_tests >"$build/build.log" || { tail -n 60 "$build/build.log" >&2 && exit 1; }

cd "$build"
# Death tests start the program anew, which only a kernel with binfmt_misc can do for arm64. QEMU writes /proc/self/stat itself, with
# another start time than the kernel gives to other processes, and by it a trainer knows whether another one lives.
export GTEST_FILTER='-*DeathTest*:Run.IsRefusedWhileAnotherTrainerLives'
for processor in max,sve=off max,sve-max-vq=1 max,sve-max-vq=2 max,sve-max-vq=4; do
  echo "[arm64] $processor"
  QEMU_CPU=$processor ctest --output-on-failure --no-tests=error -j "$(nproc)" -R "^($modules)(_double)?$" "$@"
done
