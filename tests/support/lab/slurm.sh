# shellcheck shell=bash
# A real SLURM in the lab, part of `lab`:
#   lab slurm ['PARAMETER=VALUE' ...]   after lab up: start slurmctld on login, slurmd on n1 .. nN and munge on all; returns when all
#                                       nodes are idle. The arguments are added to slurm.conf. Then: lab on login sbatch, squeue, ...
#   lab slurm check                     exit with 77 and a reason if SLURM is not installed
# Each node has 2 processors for SLURM. Partitions, each with all nodes: normal; urgent, which preempts (requeues) jobs of the
# others; grace, whose jobs get 10 s before preemption. A node that does not answer for 10 s is down, and its jobs are requeued.
# `lab boot` also starts the node's slurmd. Logs are LAB/log/slurmctld.log and LAB/log/slurmd.HOST.log; LAB/log/jobs records the end of
# jobs.

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
  # cred_expire: the time that a requeued job waits until the credentials of its last start have expired; 121 s by default.
  # TmpFS: the folder of SLURM's PMIx, separate for each host.
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

# slurm_start HOST: starts the daemons of a host, which run in the background
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
