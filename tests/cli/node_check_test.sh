#!/usr/bin/env bash
# node-check on one rank and on two: what it finds on this machine, folders that are not writable, file systems without locks,
# too many threads; and it leaves no files behind.
set -euo pipefail
unset RNNSEARCH_OVERSUBSCRIBE
export OMPI_MCA_hwloc_base_binding_policy=none
source "$SOURCE/tests/support/shell.sh"
# check CODE FACTS COMMAND...: COMMAND exits with CODE and prints lines that begin with FACTS, which are separated by |; spaces are
# ignored
check() {
  local expected=$1 facts=$2 fact code=0
  shift 2
  timeout 400 "$@" >out 2>err </dev/null || code=$?
  [[ $code == "$expected" ]] || fail "$*: code $code, not $expected: $(<out) $(<err)"
  while IFS= read -r -d '|' fact; do
    tr -s ' ' <out | grep -q "^$fact" || fail "$*: no line '$fact': $(<out)"
  done <<<"$facts|"
  [[ -z $(ls -A runs) && -z $(ls -A elsewhere/runs) ]] || fail "$*: it left something behind: $(ls -A runs elsewhere/runs)"
}
mkdir -p runs elsewhere/runs
check=("$RNNSEARCH" node-check --folder runs --threads 1)
host=$(hostname)
files='ok space|ok write 67 MB as HDF5|ok read|ok rename|ok write anywhere|ok locks'
check 0 "ok ranks 1 rank on 1 host ($host: 1)|ok threads $host: 1 rank, 1 thread|ok instructions|ok bfloat16|$files" "${check[@]}"
! grep -Eq '^(FAILED|ok +allreduce)' out || fail "one rank: $(<out)"

many=()
(($(nproc) > 1)) || many=(--oversubscribe)
check 0 "ok ranks 2 ranks on 1 host ($host: 2)|$files|ok allreduce 8 bytes|ok allreduce 1 MB|ok allreduce 64 MB|ok bandwidth" \
  mpirun -n 2 "${check[@]}" "${many[@]}"
check 0 "warning ranks 2 ranks.*SLURM granted 5 tasks" env SLURM_NTASKS=5 mpirun -n 2 "${check[@]}" "${many[@]}"
if ! grep -q quota out; then # which may be the smaller limit
  check 0 "warning threads $host has 4096 CPUs for this job.*start the ranks with .*bind-to none" \
    env SLURM_CPUS_ON_NODE=4096 mpirun -n 1 "${check[@]}"
fi
if (($(lscpu -p=CORE,SOCKET | grep -v '^#' | sort -u | wc -l) > 1)) && ! grep -q quota out; then
  echo text >line
  env -u SLURM_CPUS_ON_NODE mpirun -n 1 --bind-to hwthread "$RNNSEARCH" evaluate --hypotheses line --references line >out 2>&1
  grep -q "warning: $host has $(nproc) CPUs for this job, and its 1 rank may use 1; .*--bind-to none" out || fail "$(<out)"
fi

# Too many threads, which a training would reject.
too_many=$(($(nproc) + 1))
check 1 "FAILED threads on $host $too_many threads" "$RNNSEARCH" node-check --folder runs --threads $too_many
check 0 "warning threads on $host $too_many threads" "$RNNSEARCH" node-check --folder runs --threads $too_many --oversubscribe

# Folders.
check 1 "FAILED folder rank 0 on $host: .*nowhere" "$RNNSEARCH" node-check --folder nowhere
echo >file
check 1 "FAILED folder rank 0 on $host: .*file is not a folder" "$RNNSEARCH" node-check --folder file
check 1 "FAILED folder rank 0 on $host: cannot write in /proc" "$RNNSEARCH" node-check --folder /proc
check 1 "FAILED folder rank 0 on $host: cannot write in /proc" mpirun -n 2 "$RNNSEARCH" node-check --folder /proc "${many[@]}"
# The same path is another folder on each rank, as on hosts without a shared file system.
check 1 "ok write|FAILED read rank 1 on $host: .*elsewhere/runs.*after 10 s" \
  mpirun -n 1 "${check[@]}" "${many[@]}" : -n 1 -wdir "$PWD/elsewhere" "${check[@]}" "${many[@]}"
if mkdir small && mount -t tmpfs -o size=32m rnnsearch-test small 2>/dev/null; then
  trap 'umount small' EXIT
  check 1 "warning space 0.0 GB free|FAILED write rank 0 on $host: .*small.*[Ss]pace" "$RNNSEARCH" node-check --folder small
  [[ -z $(ls -A small) ]] || fail "it left something on a full disk: $(ls -A small)"
fi

# A file system without locks, simulated by a flock that fails.
if command -v cc >/dev/null; then
  cat >no_locks.c <<'END'
#include <errno.h>
int flock(int file, int operation) {
  (void)file, (void)operation;
  errno = ENOLCK;
  return -1;
}
END
  cc -shared -fPIC -o no_locks.so no_locks.c
  without=(env "LD_PRELOAD=$PWD/no_locks.so")
  check 0 "ok write|warning locks flock does not work .*HDF5_USE_FILE_LOCKING=FALSE" "${without[@]}" "${check[@]}"
  check 0 "ok locks flock does not work" "${without[@]}" HDF5_USE_FILE_LOCKING=FALSE "${check[@]}"
  check 1 "FAILED write" "${without[@]}" HDF5_USE_FILE_LOCKING=TRUE "${check[@]}"
fi

# As JSON.
command -v perl >/dev/null && perl -MJSON::PP -e1 || exit 0
mpirun -n 2 "${check[@]}" "${many[@]}" --json - 2>err | perl -MJSON::PP -e '
  local $/; my $r = decode_json(<STDIN>);
  @{$r->{ranks}} == 2 && $r->{failed} == 0 && @{$r->{allreduce}} == 3 or die "ranks or sums are missing\n";
  exists $_->{cores} && exists $_->{numa_domains} or die "a rank has no cores\n" for @{$r->{ranks}};
  for (@{$r->{allreduce}}) {
    abs($_->{gigabytes_per_second} * $_->{seconds} * 1e9 / $_->{bytes} - 1) < 1e-9 or die "GB/s are not bytes by seconds\n";
  }
  (grep { $_->{topic} eq "rename" && $_->{level} eq "ok" } @{$r->{findings}}) == 1 or die "no finding of rename\n";' ||
  fail "JSON: $(<err)"
