#!/usr/bin/env bash
# tests/container/run.sh: builds the image of cluster/container/Containerfile with Buildah, from a bare Debian that mmdebstrap makes,
# unpacks it, and lets an ordinary user run cluster/node_check and a training of two ranks in it with Charliecloud. The training must
# give the same bits as one of the program outside of the image. Run it by hand as root on Debian, after pipelines/build.sh; it
# compiles everything. Needs buildah, charliecloud-runtime, mmdebstrap and hdf5-tools. Its files, of 2 GB, are in build/container.
set -euo pipefail
CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
project=$PWD
for program in buildah ch-run mmdebstrap h5diff setpriv; do
  command -v "$program" >/dev/null || {
    echo "container: there is no $program; on Debian: apt-get install buildah charliecloud-runtime mmdebstrap hdf5-tools" >&2
    exit 1
  }
done
grep -qx VERSION_CODENAME=bookworm /etc/os-release ||
  { echo "container: the image is Debian 12, and the sources of apt on this machine are of another release" >&2 && exit 1; }
work=$(realpath -m -- "${RNNSEARCH_BUILD:-build}")/container
mkdir -p "$work"
# All of it in one folder and without overlays, so that it also works where root is in a container itself.
export CONTAINERS_STORAGE_CONF=$work/storage.conf BUILDAH_ISOLATION=chroot TMPDIR=$work
printf '[storage]\ndriver = "vfs"\ngraphroot = "%s"\nrunroot = "%s"\n' "$work/storage" "$work/storage-run" >"$work/storage.conf"

if ! buildah inspect bare-debian >/dev/null 2>&1; then
  # shellcheck disable=SC2016  # apt expands $
  apt-get indextargets --format '$(ORIGIN) deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | sed -n 's/^Debian //p' >"$work/sources"
  mmdebstrap --mode=root --variant=apt bookworm "$work/base.tar" "$work/sources"
  base=$(buildah from scratch)
  buildah add "$base" "$work/base.tar" /
  buildah commit --rm "$base" bare-debian
  rm "$work/base.tar"
fi
SECONDS=0
buildah build --layers -f cluster/container/Containerfile --build-arg BASE=localhost/bare-debian -t rnnsearch . >"$work/build.log" 2>&1 ||
  { tail -n 40 "$work/build.log" >&2 && exit 1; }
echo "[container] built in $SECONDS s"

rm -rf --one-file-system "$work/image"
container=$(buildah from rnnsearch)
cp -a "$(buildah mount "$container")" "$work/image"
buildah rm "$container" >/dev/null
mkdir -p "$work/image"/{dev,proc,sys,tmp} # Charliecloud mounts there
echo "[container] the image has $(du -sm "$work/image" | cut -f 1) MB; $(chroot "$work/image" rnnsearch --version | head -n 1)"
for tool in gcc g++ cmake; do
  [[ ! -e $work/image/usr/bin/$tool ]] || { echo "container: the image has $tool, which only its first stage needs" >&2 && exit 1; }
done

use=$(mktemp -d /tmp/rnnsearch-container.XXXXXX)
trap 'rm -rf "$use"' EXIT
cp -r "$project/cluster" "$work/../rnnsearch" "$use"
data/reversal.sh "$use/text" --vocabulary 10 --max-length 7 --train 600 --dev 16 --test 16 >/dev/null
cat >"$use/use.sh" <<'END'
set -euo pipefail
export RNNSEARCH_OVERSUBSCRIBE=1 LAUNCHER="mpirun -n 2 --oversubscribe --bind-to none" TRAIN_OPTIONS= CONTAINER=
./rnnsearch prepare --train-source text/train.source --train-target text/train.target --dev-source text/dev.source \
  --dev-target text/dev.target --tokenizer none --output corpus.h5
train=(train --corpus corpus.h5 --max-updates 20 --validate-every 10 --embedding 12 --state 24 --alignment 16 --maxout 12 --threads 1)
RNNSEARCH=$PWD/rnnsearch cluster/run "${train[@]}" --run outside
# The folder is below /tmp, which Charliecloud binds. Ranks in user namespaces of their own may not read each other's memory.
export CONTAINER="ch-run --cd=$PWD $IMAGE --" RNNSEARCH=rnnsearch OMPI_MCA_btl_vader_single_copy_mechanism=none
cluster/node_check --folder . --threads 1
cluster/run "${train[@]}" --run inside
h5diff "outside/checkpoints/$(<outside/checkpoints/latest)" "inside/checkpoints/$(<inside/checkpoints/latest)" /parameters /parameters
END
chown -R 1000:1000 "$use"
chmod 755 "$use"
cd "$use"
setpriv --reuid 1000 --regid 1000 --clear-groups env -u CONTAINERS_STORAGE_CONF HOME="$use" USER=translator TMPDIR=/tmp IMAGE="$work/image" bash use.sh
echo "[container] the training in the image gave the same parameters as the one outside"
