#!/usr/bin/env bash
# pipelines/install.sh [fast-tests|tests|peers]: installs the missing packages that building and running rnnsearch needs; with `tests`, also
# those that only its tests need, with `fast-tests` those of tests/run.sh --fast, with `peers` those of benchmark/peers. Prints nothing when
# no package is missing. What it does depends on the system:
#   Debian 12, Ubuntu 24.04   packages, with apt-get
#   Fedora                    packages, with dnf
#   Rocky Linux 9 and others  compiler, CMake and MPI with dnf, because the distribution's oneTBB is too old and other libraries are missing;
#   like it (8 to 10)         the libraries are built from source in ~/rnnsearch-libraries (dependencies.sh)
# On any other system it says what to do, and exits with 1.
set -euo pipefail
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

# package = reason. Names are Debian's. This is the only list of packages: add a package that the project needs here, with its reason.
packages='
  g++                           = compiler with C++20
  cmake                         = configures the build
  ninja-build                   = runs the build
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
  perl                          = man pages and shell completion, the corpora of data/, tests, the replacement of ssh in the lab
'
if [[ ${1:-} == *tests ]]; then
  packages+='
  libgtest-dev                  = GoogleTest
  libgmock-dev                  = GoogleMock: matchers for GoogleTest
  hdf5-tools                    = h5diff: compares checkpoints
  make                          = builds a library in the test of dependencies.sh
'
fi
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

if [[ ${1:-} == peers ]]; then
  packages+='
  python3-torch                 = PyTorch, which rnnsearch is compared with
  libopenblas0-openmp           = the fastest of the libraries for its matrix products in single precision
'
fi

IFS=: read -r id like system < <(
  # shellcheck source=/dev/null  # the file of the system
  source "${RNNSEARCH_OS_RELEASE:-/etc/os-release}" && echo "$ID:${ID_LIKE:-}:${PRETTY_NAME:-$ID}"
) || system='a system without /etc/os-release'
fail() {
  echo "install: $*" >&2
  exit 1
}
names=$(awk 'NF {print $1}' <<<"$packages")
shell='' libraries=''
case " ${id:-} ${like:-} " in
  *" debian "*)
    install=(apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends)
    # dpkg-query fails when it does not know a package, and prints nothing for it, so the package counts as missing
    # shellcheck disable=SC2016  # dpkg-query expands ${Package}
    installed=$(xargs dpkg-query --show -f '${Package} ${db:Status-Status}\n' <<<"$names" 2>/dev/null |
      sed -n 's/ installed$//p') || true
    missing=$(grep -vxFf <(echo "$installed") <<<"$names") || exit 0
    ;;
  *" rhel "* | " fedora "*)
    [[ -z ${1:-} ]] || fail "this is $system, and the packages that '$1' needs are known for Debian and Ubuntu only"
    install=(dnf install -y)
    shell="module load mpi/openmpi-$(uname -m)"
    names='cmake make pkgconf-pkg-config openmpi-devel environment-modules perl'
    if [[ $id == fedora ]]; then
      names+=' gcc-c++ ninja-build tbb-devel highway-devel hdf5-devel xxhash-devel zlib-devel libzstd-devel xz-devel libicu-devel re2-devel
        sentencepiece-devel fmt-devel json-devel pugixml-devel'
    else
      names+=' gcc-toolset-13-gcc-c++ bzip2 xz'
      libraries=$HOME/rnnsearch-libraries
      shell="source /opt/rh/gcc-toolset-13/enable && $shell && export CMAKE_PREFIX_PATH=$libraries"
    fi
    missing=$(for name in $names; do rpm -q --whatprovides "$name" >/dev/null 2>&1 || echo "$name"; done)
    ;;
  *)
    fail "this is $system, and packages are known for Debian, Ubuntu, Fedora and Rocky Linux only: build the libraries without root" \
      "(pipelines/dependencies.sh --help) or with Spack, as cluster/README.md says"
    ;;
esac

if [[ -n $missing ]]; then
  as_root=()
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || fail "packages are missing, and user $(id -un) is neither root nor has sudo: run as root" \
      "${install[*]} ${missing//$'\n'/ }, or build the libraries without root: pipelines/dependencies.sh --help"
    as_root=(sudo)
  fi
  echo "[install] $system: installing missing packages with ${as_root[*]:+sudo }${install[0]}, which needs root because it writes to /usr:"
  awk -F ' += ' 'NR == FNR {sub(/^ +/, ""); reason[$1] = ": " $2; next} {print "[install]   " $1 reason[$1]}' \
    <(echo "$packages") <(echo "$missing")
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  run_as_root() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1 && return
    cat "$log" >&2
    fail "$1 failed (its output is above); fix the cause and run the same command again"
  }
  if [[ ${install[0]} == apt-get ]]; then run_as_root apt-get -o DPkg::Lock::Timeout=300 update; fi
  # shellcheck disable=SC2086  # each word is a package
  run_as_root "${install[@]}" $missing
  echo "[install] done"
fi
if [[ -n $libraries && ! -e $libraries/complete ]]; then
  echo "[install] $system: building the other libraries in $libraries, which takes half an hour of processor time"
  set +u # the file reads variables that may be unset
  # shellcheck source=/dev/null  # it belongs to the compiler that was installed above
  source /opt/rh/gcc-toolset-13/enable
  set -u
  mkdir -p "$libraries/tarballs"
  (cd "$libraries/tarballs" && "$here/dependencies.sh" --list | xargs -n 1 curl -fsSLO)
  "$here/dependencies.sh" --tarballs "$libraries/tarballs"
  touch "$libraries/complete"
fi
if [[ -n $shell ]] && ! { command -v mpicxx && (($(g++ -dumpversion | cut -d. -f1) >= 12)); } >/dev/null 2>&1; then
  fail "all that is needed is installed; prepare this shell, and run the same command again: $shell"
fi
