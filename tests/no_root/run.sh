#!/usr/bin/env bash
# tests/no_root/run.sh TARBALLS [OPTION VALUE]...: builds and uses rnnsearch as an ordinary user without a network, in a bare Debian root
# that has compilers, CMake, make and Open MPI but none of the other libraries. TARBALLS is the folder of the libraries' tarballs; the
# options are passed to pipelines/dependencies.sh (--use NAME=tarballs/FILE for another version). Root runs it by hand: it takes half an
# hour on two cores, and needs mmdebstrap, iproute2 and Debian's archive. NO_ROOT_WORK (default build/no_root) is the folder of the root,
# which a second run uses again.
set -euo pipefail
project=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
tarballs=$(realpath -- "${1:?usage: tests/no_root/run.sh TARBALLS [OPTION VALUE]...}")
[[ -d $tarballs ]] || { echo "no_root: there is no folder $tarballs" >&2 && exit 2; }
shift
work=${NO_ROOT_WORK:-$project/build/no_root}
mkdir -p "$work"
cd "$work"

# --- the bare root: what a site installs for all users. xz-utils and bzip2 unpack tarballs ---
if [[ ! -e root/home/user ]]; then
  # shellcheck disable=SC2016  # apt expands $
  apt-get indextargets --format '$(ORIGIN) deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | sed -n 's/^Debian //p' >sources
  rm -rf --one-file-system root
  mmdebstrap --mode=root --variant=essential --include=g++,cmake,make,libopenmpi-dev,openmpi-bin,xz-utils,bzip2 \
    --dpkgopt=force-unsafe-io "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" root sources
  echo 'user:x:1000:1000::/home/user:/bin/bash' >>root/etc/passwd
  mkdir -p root/home/user
fi
for absent in bin/pkg-config bin/pkgconf bin/ninja include/hdf5 include/tbb include/unicode include/pugixml.hpp; do
  [[ ! -e root/usr/$absent ]] || { echo "the root is not bare: it has /usr/$absent" >&2 && exit 1; }
done

# --- what the user brings: the project and the tarballs ---
home=$PWD/root/home/user
rm -rf "$home/rnnsearch" "$home/tarballs" "$home"/{tree,text,corpus.h5,run,translated}
mkdir "$home/rnnsearch"
(cd "$project" && git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$home/rnnsearch")
cp -rL "$tarballs" "$home/tarballs"
cat >"$home/use.sh" <<'EOF_USE'
set -euo pipefail
[[ $(id -u) == 1000 && -z ${LD_LIBRARY_PATH:-} ]]
[[ -z $(sed 1d /proc/net/route) ]] || { echo "there is a network: $(</proc/net/route)" && exit 1; }
step() { # NAME COMMAND...
  local TIMEFORMAT="== $1: %0R s (CPU: %0U s user, %0S s system)"
  time "${@:2}" || { echo "FAILED: $1" >&2 && exit 1; }
}
step "libraries" rnnsearch/pipelines/dependencies.sh --tarballs tarballs "$@"
step "libraries, again" rnnsearch/pipelines/dependencies.sh --tarballs tarballs "$@" | tee again
! grep -q ': building ' again || { echo "FAILED: libraries were built twice" && exit 1; }
step "rnnsearch" rnnsearch/pipelines/build.sh -- -DCMAKE_PREFIX_PATH="$HOME/rnnsearch-libraries"
step "install" cmake --install rnnsearch/build --prefix ~/tree >/dev/null
du -sh rnnsearch-libraries rnnsearch/build tree
find rnnsearch-libraries -type f | wc -l
mv rnnsearch/build "rnnsearch/build that is not used"
PATH=$HOME/tree/bin:$PATH
ldd tree/bin/rnnsearch
rnnsearch/data/reversal.sh text --vocabulary 10 --max-length 7 --train 600 --dev 16 --test 16
rnnsearch prepare --train-source text/train.source --train-target text/train.target --dev-source text/dev.source \
  --dev-target text/dev.target --test reversed:text/test.source:text/test.target --tokenizer none --output corpus.h5
step "train" mpirun -n 2 rnnsearch train --corpus corpus.h5 --run run --max-updates 20 --validate-every 10 --embedding 12 --state 24 \
  --alignment 16 --maxout 12 --threads 1
step "translate" mpirun -n 2 rnnsearch translate --model run --input text/test.source --output translated --threads 1
step "evaluate" rnnsearch evaluate --hypotheses ours=translated --corpus corpus.h5 --set test/reversed
(($(grep -c '"host"' run/environment.json) == 2))
[[ $(wc -l <translated) == 16 ]]
EOF_USE
chown -R 1000:1000 "$home"

# No network: a namespace of its own, in which only the loopback device is up.
# shellcheck disable=SC2016  # the inner shell expands $
unshare --mount --pid --net --fork --kill-child env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/home/user \
  OMPI_MCA_rmaps_base_oversubscribe=1 RNNSEARCH_OVERSUBSCRIBE=1 bash -c 'ip link set lo up && mount -t proc proc root/proc &&
  mount -t sysfs sysfs root/sys && mount --rbind /dev root/dev && mount -t tmpfs tmpfs root/tmp &&
  exec chroot --userspec=1000:1000 root env -C /home/user bash use.sh "$@"' - "$@"
