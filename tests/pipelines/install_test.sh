#!/usr/bin/env bash
# pipelines/install.sh on systems that this is not: what it would install, with which command, and what it says where it knows no packages.
# Stubs stand in for the systems' programs; those that would install something fail.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"

mkdir stubs
# rpm and dpkg-query know no package, so all count as missing.
printf '#!/bin/sh\nexit 1\n' | tee stubs/rpm >stubs/dpkg-query
printf '#!/bin/sh\necho 0\n' >stubs/id # the script runs as root, without sudo
# apt-get and dnf record how they are called, and install nothing.
tee stubs/apt-get >stubs/dnf <<'STUB'
#!/bin/sh
echo "${0##*/} $*" >>calls
echo "no mirror"
case "$*" in *update) ;; *) exit 1 ;; esac
STUB
chmod +x stubs/*
system() { # ID ID_LIKE
  printf 'ID=%s\nID_LIKE="%s"\nPRETTY_NAME="%s of the test"\n' "$1" "$2" "$1" >os-release
}
install_here() { # [ARGUMENT]: runs the script, which must fail
  rm -f calls && touch calls
  if RNNSEARCH_OS_RELEASE=$PWD/os-release PATH=$PWD/stubs:$PATH "$SOURCE/pipelines/install.sh" "$@" >said 2>&1; then fail "$(<said)"; fi
}
expect() { # FILE TEXT...
  local text
  for text in "${@:2}"; do grep -qF -- "$text" "$1" || fail "$(head -n 1 os-release): '$text' is not in: $(<"$1")"; done
}

system ubuntu debian
install_here
expect said 'ubuntu of the test: installing missing packages with apt-get' 'libfmt-dev: fmt:' 'apt-get failed' 'no mirror'
expect calls 'apt-get -o DPkg::Lock::Timeout=300 update' 'install -y --no-install-recommends g++ cmake' ' libsentencepiece-dev '
! grep -q gtest calls || fail "GoogleTest without tests: $(<calls)"
install_here fast-tests
expect calls ' libgtest-dev '
install_here peers
expect calls ' python3-torch '

system fedora ''
install_here
expect said 'fedora of the test: installing missing packages with dnf' 'dnf failed'
expect calls 'dnf install -y cmake' ' openmpi-devel ' ' fmt-devel '
install_here tests
expect said "the packages that 'tests' needs are known for Debian and Ubuntu only"

system rocky 'rhel centos fedora'
install_here
expect said 'rocky of the test: installing missing packages with dnf'
expect calls ' gcc-toolset-13-gcc-c++ ' ' openmpi-devel '
! grep -q fmt-devel calls || fail "a library that Rocky Linux lacks: $(<calls)"

system plan9 ''
install_here
expect said 'this is plan9 of the test, and packages are known for' 'pipelines/dependencies.sh --help' 'Spack'
[[ $(wc -l <said) == 1 && ! -s calls ]] || fail "$(<said) $(<calls)"
