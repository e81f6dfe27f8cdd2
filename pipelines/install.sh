#!/usr/bin/env bash
# pipelines/install.sh [tests]: installs what is missing of what rnnsearch needs to be built and run on Debian 12; with `tests`,
# also what only its tests need. Silent when all is there.
set -euo pipefail

# package = reason. The only such list: a package that the project comes to need is added here, with its reason.
packages='
  g++                           = compiler with C++20
  cmake                         = configures the build
  ninja-build                   = runs the build
  libtbb-dev                    = oneTBB: threads inside a rank
  libhwy-dev                    = Highway: vector instructions chosen at run time
  libopenmpi-dev                = MPI: sums over ranks
  openmpi-bin                   = mpirun
  libhdf5-dev                   = HDF5: corpora and checkpoints
  libxxhash-dev                 = xxHash: digests of corpora and checkpoints
  zlib1g-dev                    = zlib, and the next two: compressed text (gzip, Zstandard, xz); zlib also: lists of a corpus
  libzstd-dev                   = zstd
  liblzma-dev                   = xz
  libicu-dev                    = ICU: Unicode in the tokenisers
  libsentencepiece-dev          = SentencePiece: subwords
  libboost-program-options-dev  = command line and configuration files
  nlohmann-json3-dev            = JSON: log.jsonl, environment.json, evaluate --json
  libpugixml-dev                = pugixml: the pages and pictures of report and align
  hdf5-tools                    = h5diff: tests compare checkpoints with it
  libgtest-dev                  = GoogleTest
  libgmock-dev                  = GoogleMock: matchers for GoogleTest
  perl                          = the corpora of data/, the layering test, what stands for ssh in the lab
'
if [[ ${1:-} == tests ]]; then
  packages+='
  libsimgrid-dev                = SimGrid: simulated networks, for cluster/scaling and its test
  iproute2                      = ip, tc: hosts and cables of the lab that tests the cluster side
  slurmctld                     = SLURM in that lab: its controller
  slurmd                        = its nodes
  slurm-client                  = sbatch, srun, squeue
  slurm-wlm-basic-plugins       = PMIx, the scheduler, preemption
  munge                         = how these know each other
  zstd                          = writes compressed text for a test, as do the next and gzip
  xz-utils                      = xz
  valgrind                      = counts instructions: a test of long lines
  e2fsprogs                     = mkfs.ext4: the file system of a slow disk, in a test
  mount                         = losetup, mount: that disk
  patch                         = applies the recipes of tests/recipes, in a test
  shellcheck                    = reads every shell script, in a test
  clang-format                  = formats the C++ sources; a test requires that it leaves them as they are
  chromium                      = opens the page of report in its test
'
fi
# A Node.js that did not come from Debian does as well, and Debian's would not stand beside it.
if [[ ${1:-} == tests ]] && { ! command -v node || ! command -v npm; } >/dev/null; then
  packages+='
  nodejs                        = drives that browser
  npm                           = fetches the checks that it is driven by: playwright-core, axe-core
'
fi

names=$(awk 'NF {print $1}' <<<"$packages")
# dpkg-query fails when it has never heard of one of them; that one is then missing, which is all we ask
# shellcheck disable=SC2016  # dpkg-query fills it in
installed=$(xargs dpkg-query --show -f '${Package} ${db:Status-Status}\n' <<<"$names" 2>/dev/null |
  sed -n 's/ installed$//p') || true
missing=$(grep -vxFf <(echo "$installed") <<<"$names") || exit 0

as_root=()
if [[ $(id -u) != 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "install: packages are missing, and user $(id -un) is neither root nor has sudo: run as root" \
      "apt-get install --no-install-recommends ${missing//$'\n'/ }" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "[install] missing, to be installed with ${as_root[*]:+sudo }apt-get, which needs root because it writes to /usr:"
awk -F ' += ' 'NR == FNR {wanted[$1]; next} {sub(/^ +/, "", $1)} $1 in wanted {print "[install]   " $1 ": " $2}' \
  <(echo "$missing") <(echo "$packages")

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" >"$log" 2>&1 && return
  cat "$log" >&2
  echo "install: apt-get $1 failed (its own words are above): mend that and run the same command again" >&2
  exit 1
}
apt update
# shellcheck disable=SC2086  # one word a package
apt install -y --no-install-recommends $missing
echo "[install] done"
