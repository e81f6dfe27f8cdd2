# shellcheck shell=bash
# A real SLURM in the lab, part of `lab`:
#   lab slurm ['PARAMETER=VALUE' ...]   after lab up: slurmctld on login, slurmd on n1 .. nN, munge on all; returns when all nodes
#                                       are idle. Lines given are added to slurm.conf. Then: lab on login sbatch, squeue, ...
#   lab slurm check                     exit 77 and the reason where SLURM is not installed
# Each node has 2 processors in SLURM's eyes. Partitions, each over all nodes: normal; urgent, which preempts (requeues) jobs of
# the others; grace, whose jobs are given 10 s before that. A node that does not answer for 10 s is down, and its jobs are
# requeued. `lab boot` starts a node's slurmd too. Logs: LAB/log/slurmctld.log, LAB/log/slurmd.HOST.log; what became of jobs:
# LAB/log/jobs.

slurm_check() {
  local program
  for program in slurmctld slurmd munged srun sbatch; do
    command -v $program >/dev/null ||
      skip "$program is not installed (Debian: slurmctld, slurmd, slurm-client, slurm-wlm-basic-plugins, munge)"
  done
}

slurm_configure() {
  local nodes
  nodes=$(hosts | grep -c '^n')
  mkdir -p "$LAB/slurm/state"
  head -c 128 /dev/urandom >"$LAB/slurm/munge.key"
  chmod 400 "$LAB/slurm/munge.key"
  # cred_expire: a requeued job waits for so long until the credentials of its last start have expired, 121 s without it.
  # TmpFS: where SLURM's PMIx keeps its files; each host's own.
  cat >"$LAB/slurm/slurm.conf" <<END_OF_CONF
ClusterName=lab
SlurmctldHost=login
SlurmUser=root
SlurmdUser=root
AuthInfo=cred_expire=5
StateSaveLocation=$LAB/slurm/state
SlurmdSpoolDir=/run/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=$LAB/log/slurmctld.log
SlurmdLogFile=$LAB/log/slurmd.%h.log
TmpFS=/run/tmp
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$LAB/log/jobs
MpiDefault=pmix
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=bf_interval=2,sched_interval=2,batch_sched_delay=0
ReturnToService=2
SlurmdTimeout=10
KillWait=5
OverTimeLimit=0
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName=n[1-$nodes] CPUs=2 Sockets=1 CoresPerSocket=2 ThreadsPerCore=1
PartitionName=normal Nodes=ALL Default=YES PriorityTier=1
PartitionName=grace Nodes=ALL PriorityTier=1 GraceTime=10
PartitionName=urgent Nodes=ALL PriorityTier=10 PreemptMode=OFF
END_OF_CONF
  (($# == 0)) || printf '%s\n' "$@" >>"$LAB/slurm/slurm.conf"
}

# slurm_start HOST: its daemons, which put themselves into the background
slurm_start() {
  # shellcheck disable=SC2016  # the host's shell expands it
  (on "$1" bash -c '
    set -e
    mkdir -p /run/munge /run/slurmd
    munged --force --key-file="$LAB/slurm/munge.key" --log-file="$LAB/log/munged.$0.log" --seed-file=/run/munge/seed \
      --pid-file=/run/munge/pid
    if [[ $0 == login ]]; then exec slurmctld; else exec slurmd -N "$0"; fi' "$1") >>"$LAB/log/$1.log" 2>&1 ||
    die "SLURM does not start on $1: $(tail -n 5 "$LAB/log/$1.log")"
}

slurm() {
  local host i idle
  if [[ ${1:-} == check ]]; then
    slurm_check
    return
  fi
  slurm_check
  init hosts/login >/dev/null
  slurm_configure "$@"
  for host in $(hosts); do slurm_start "$host"; done
  for ((i = 0; i < 300; ++i)); do
    idle=$(on login sinfo -h -p normal -t idle -o %D 2>/dev/null) || idle=''
    [[ $idle != $(hosts | grep -c '^n') ]] || return 0
    sleep 0.2
  done
  die "nodes do not become idle: $(on login sinfo 2>&1); see $LAB/log"
}
