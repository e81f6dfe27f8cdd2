#!/usr/bin/env bash
# The Debian package that cpack makes: lintian finds no error in it; in a bare Debian without compilers it installs with nothing but its
# dependencies; an ordinary user trains with mpirun on two ranks, translates and evaluates; ranks in containers of that Debian give the
# same bits; purging it leaves nothing behind. Root makes the Debian, with the package sources that apt on this machine has.
set -euo pipefail
for tool in mmdebstrap lintian unshare; do
  command -v $tool >/dev/null || { echo "skipped: $tool is not installed" >&2; exit 77; }
done
[[ $(id -u) == 0 && $(</etc/os-release) == *$'\nID=debian\n'* ]] ||
  { echo "skipped: only root on Debian can make a Debian root" >&2; exit 77; }
unshare --mount --pid --fork mount -t tmpfs tmpfs /mnt 2>/dev/null || { echo "skipped: this root may not mount" >&2; exit 77; }
source "$SOURCE/tests/support/shell.sh"
build=$(dirname "$RNNSEARCH")

# --- the package ---
cpack --config "$build/CPackConfig.cmake" -G DEB -D CPACK_PACKAGE_CONTACT="Package Test <test@rnnsearch.test>" -B "$PWD/package" \
  >cpack.log 2>&1 || fail "cpack: $(<cpack.log)"
package=$(echo package/rnnsearch_*.deb)
echo "package: $(stat -c %s "$package") bytes; depends on $(dpkg-deb -f "$package" Depends)"
lintian --allow-root --tag-display-limit 0 "$package" >lintian.log 2>&1 || true
cat lintian.log
! grep '^E:' lintian.log || fail "lintian finds errors"
[[ $(dpkg-deb -f "$package" Depends) == *libhdf5*libopenmpi*libtbb* ]] || fail "dependencies are missing: $(dpkg-deb -f "$package")"

# --- a Debian that has the package, what it depends on and recommends, and neither apt nor a compiler ---
# Its packages stay in a cache, so that only the first run downloads them.
cache=$build/debian-archives
mkdir -p "$cache"
codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
# shellcheck disable=SC2016  # apt expands $
apt-get indextargets --format '$(ORIGIN) deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | sed -n 's/^Debian //p' >sources
[[ -s sources ]] || { echo "skipped: apt on this machine has no sources of Debian" >&2; exit 77; }
proxy=$(apt-config dump | grep '^Acquire::.*Proxy') || true
# shellcheck disable=SC2016  # mmdebstrap expands $1
mmdebstrap --mode=root --variant=essential --include="$PWD/$package" --include="$(dpkg-deb -f "$package" Recommends)" \
  --hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount --dpkgopt=force-unsafe-io ${proxy:+--aptopt="$proxy"} \
  --setup-hook='mkdir -p "$1/var/cache/apt/archives"' --setup-hook="cp -al '$cache/.' \"\$1/var/cache/apt/archives/\"" \
  --customize-hook="cp -alu \"\$1\"/var/cache/apt/archives/*.deb '$cache'" \
  "$codename" root sources >mmdebstrap.log 2>&1 || {
  ! grep -qE 'Could not resolve|Failed to fetch|Could not connect' mmdebstrap.log ||
    { echo "skipped: apt reaches no archive of Debian: $(grep -m1 -E 'Could not|Failed to' mmdebstrap.log)" >&2 && exit 77; }
  fail "mmdebstrap: $(tail -n 40 mmdebstrap.log)"
}
for tool in gcc g++ cmake make; do
  [[ ! -e root/usr/bin/$tool ]] || fail "the Debian root is not bare: it has $tool"
done

# inside USER COMMAND...: runs a command in that Debian, with processes, mounts and environment of its own
echo 'translator:x:1000:1000::/home/translator:/bin/bash' >>root/etc/passwd
mkdir -p root/home/translator
inside() {
  # shellcheck disable=SC2016  # the inner shell expands $
  unshare --mount --pid --fork --kill-child env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/home/translator \
    OMPI_MCA_rmaps_base_oversubscribe=1 RNNSEARCH_OVERSUBSCRIBE=1 bash -c 'mount -t proc proc root/proc &&
    mount -t sysfs sysfs root/sys && mount --rbind /dev root/dev && mount -t tmpfs tmpfs root/tmp &&
    exec chroot --userspec="$1" root env -C /home/translator "${@:2}"' - "$@"
}
"$SOURCE/data/reversal.sh" root/home/translator/text --vocabulary 10 --max-length 7 --train 600 --dev 16 --test 16 >/dev/null
train="train --corpus corpus.h5 --max-updates 20 --validate-every 10 --embedding 12 --state 24 --alignment 16 --maxout 12 --threads 1"
cat >root/home/translator/use.sh <<EOF
set -euo pipefail
[[ \$(id -u) == 1000 ]]
rnnsearch prepare --train-source text/train.source --train-target text/train.target --dev-source text/dev.source \\
  --dev-target text/dev.target --test reversed:text/test.source:text/test.target --tokenizer none --output corpus.h5
mpirun -n 2 rnnsearch $train --run run
mpirun -n 2 rnnsearch translate --model run --input text/test.source --output translated --threads 1
rnnsearch evaluate --hypotheses ours=translated --corpus corpus.h5 --set test/reversed
EOF
chown -R 1000:1000 root/home/translator
inside 1000:1000 bash use.sh >used.log 2>&1 || fail "using the package: $(tail -n 40 used.log)"
(($(grep -c '"host"' root/home/translator/run/environment.json) == 2)) ||
  fail "not trained on two ranks: $(<root/home/translator/run/environment.json)"
[[ $(wc -l <root/home/translator/translated) == 16 ]] || fail "translated $(wc -l <root/home/translator/translated) of 16 lines"
[[ $(<used.log) == *BLEU* ]] || fail "evaluate printed no BLEU: $(<used.log)"

# --- the same Debian as an image: the scripts for clusters start each rank in a container, with the mpirun of this machine ---
if command -v ch-run >/dev/null && unshare --user true 2>/dev/null; then
  mkdir work
  cp -r root/home/translator/{corpus.h5,run} work
  cat >contained.sh <<EOF
set -euo pipefail
cd work
# Ranks in user namespaces of their own may not read each other's memory.
export CONTAINER="ch-run --cd=/home/translator --bind=$PWD/work:/home/translator $PWD/root --" RNNSEARCH=rnnsearch USER=root TRAIN_OPTIONS='' \
  LAUNCHER="mpirun -n 2 --bind-to none" OMPI_MCA_btl_vader_single_copy_mechanism=none RNNSEARCH_OVERSUBSCRIBE=1 \
  OMPI_MCA_rmaps_base_oversubscribe=1
"$SOURCE/cluster/node_check" --folder . --threads 1
"$SOURCE/cluster/run" $train --run inside
h5diff run/checkpoints/\$(<run/checkpoints/latest) inside/checkpoints/\$(<inside/checkpoints/latest) /parameters /parameters
EOF
  bash contained.sh >contained.log 2>&1 || fail "in containers: $(tail -n 40 contained.log)"
  grep '^ok *threads' contained.log
else
  echo "not tried: containers, which need ch-run of Charliecloud and user namespaces"
fi

# --- nothing is left of it ---
mapfile -t installed < <(inside 0:0 dpkg -L rnnsearch)
((${#installed[@]} > 20)) || fail "the package holds ${#installed[@]} files"
inside 0:0 dpkg --purge rnnsearch >purge.log 2>&1 || fail "purge: $(<purge.log)"
left=$(for file in "${installed[@]}"; do [[ -d root$file ]] || { [[ ! -e root$file ]] || echo "$file"; }; done
  # mmdebstrap brings the package in under its own path
  find root -xdev \( -path root/home -o -path "root$PWD" \) -prune -o -iname '*rnnsearch*' -print)
[[ -z $left ]] || fail "purging left behind: $left"
rm -rf --one-file-system root
