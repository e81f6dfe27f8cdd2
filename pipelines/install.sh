#!/usr/bin/env bash
# pipelines/install.sh [tests]: installs the missing packages that building and running rnnsearch needs on Debian 12; with `tests`,
# also those that only its tests need. Prints nothing when no package is missing.
set -euo pipefail

# package = reason. This is the only list of packages: add a package that the project needs here, with its reason.
packages='
  g++                           = compiler with C++20
  cmake                         = configures the build
  ninja-build                   = runs the build
  make                          = builds a library in the test of dependencies.sh
  pkgconf                       = finds libraries that bring no files for CMake
  libtbb-dev                    = oneTBB: threads inside a rank
  libhwy-dev                    = Highway: vector instructions chosen at run time
  libopenmpi-dev                = MPI: all-reduces over ranks
  openmpi-bin                   = mpirun
  libhdf5-dev                   = HDF5: corpora and checkpoints
  libxxhash-dev                 = xxHash: digests of corpora and checkpoints
  zlib1g-dev                    = zlib: compressed text (gzip)
  libzstd-dev                   = zstd: compressed text (Zstandard)
  liblzma-dev                   = xz: compressed text (xz)
  libicu-dev                    = ICU: Unicode in the tokenizers
  libre2-dev                    = RE2: patterns of text that is copied
  libsentencepiece-dev          = SentencePiece: subwords
  libfmt-dev                    = fmt: messages, each from a format that the compiler checks
  nlohmann-json3-dev            = JSON: log.jsonl, environment.json, evaluate --json
  libpugixml-dev                = pugixml: the pages and pictures of report and align
  hdf5-tools                    = h5diff: tests compare checkpoints with it
  libgtest-dev                  = GoogleTest
  libgmock-dev                  = GoogleMock: matchers for GoogleTest
  perl                          = man pages and shell completion, the corpora of data/, tests, the replacement of ssh in the lab
'
if [[ ${1:-} == tests ]]; then
  packages+='
  libmpich-dev                  = MPICH: a second MPI, for which the MPI tests are built and run, too
  mpich                         = its launcher, mpiexec.hydra
  libsimgrid-dev                = SimGrid: simulated networks, for cluster/scaling and its test
  iproute2                      = ip, tc: hosts and cables of the lab that tests the cluster side
  slurmctld                     = SLURM in that lab: its controller
  slurmd                        = SLURM in that lab: its nodes
  slurm-client                  = SLURM in that lab: sbatch, srun, squeue
  slurm-wlm-basic-plugins       = SLURM in that lab: PMIx, the scheduler, preemption
  munge                         = authenticates the processes of SLURM
  zstd                          = writes compressed text for a test
  xz-utils                      = xz: writes compressed text for a test
  valgrind                      = counts instructions: a test of long lines
  e2fsprogs                     = mkfs.ext4: the file system of a slow disk, in a test
  mount                         = losetup, mount: the same slow disk
  environment-modules           = loads the module file that is installed, in a test
  shellcheck                    = reads every shell script, in a test
  clang-format                  = formats the C++ sources; a test requires that it leaves them as they are
  bash-completion               = completion of bash, in a test
  zsh                           = completion of zsh, in the same test
  fish                          = completion of fish, in the same test
  man-db                        = shows the man pages, in the same test
  dpkg-dev                      = dpkg-shlibdeps: dependencies of the Debian package
  lintian                       = checks the Debian package, in a test
  mmdebstrap                    = the bare Debian in which that test installs the package
  charliecloud-runtime          = ch-run: starts ranks in containers, in that test
  chromium                      = opens the page of report in its test
  tmux                          = a terminal that shows a training, in the same test
  python3-h5py                  = reads corpora and checkpoints as other programs do, in a test
  python3-numpy                 = computes alphas from the parameters of a checkpoint in that test
  python3-jsonschema            = compares log.jsonl with its schema, in a test
'
fi
# An existing Node.js that is not from Debian also works, and Debian's cannot be installed beside it.
if [[ ${1:-} == tests ]] && { ! command -v node || ! command -v npm; } >/dev/null; then
  packages+='
  nodejs                        = drives Chromium in that test
  npm                           = fetches playwright-core and axe-core, which that test uses
'
fi

names=$(awk 'NF {print $1}' <<<"$packages")
# dpkg-query fails when it does not know a package, and prints nothing for it, so the package counts as missing
# shellcheck disable=SC2016  # dpkg-query expands ${Package}
installed=$(xargs dpkg-query --show -f '${Package} ${db:Status-Status}\n' <<<"$names" 2>/dev/null |
  sed -n 's/ installed$//p') || true
missing=$(grep -vxFf <(echo "$installed") <<<"$names") || exit 0

as_root=()
if [[ $(id -u) != 0 ]]; then
  if ! command -v sudo >/dev/null; then
    without_root=', or build the libraries without root: pipelines/dependencies.sh --help'
    [[ ${1:-} != tests ]] || without_root=
    echo "install: packages are missing, and user $(id -un) is neither root nor has sudo: run as root" \
      "apt-get install --no-install-recommends ${missing//$'\n'/ }$without_root" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "[install] installing missing packages with ${as_root[*]:+sudo }apt-get, which needs root because it writes to /usr:"
awk -F ' += ' 'NR == FNR {wanted[$1]; next} {sub(/^ +/, "", $1)} $1 in wanted {print "[install]   " $1 ": " $2}' \
  <(echo "$missing") <(echo "$packages")

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" >"$log" 2>&1 && return
  cat "$log" >&2
  echo "install: apt-get $1 failed (its output is above); fix the cause and run the same command again" >&2
  exit 1
}
apt update
# shellcheck disable=SC2086  # each word is a package
apt install -y --no-install-recommends $missing
echo "[install] done"
