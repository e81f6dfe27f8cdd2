# shellcheck shell=bash
# What this site sets, and nothing else does: edit it once, or name a copy of it in SITE. Each value gives way to a variable of
# the same name in the environment: PARTITION=long cluster/submit ... (an empty one is a value, too).
# cluster/submit writes them into the job's script, so a job keeps the values that it was submitted with.

# --- the program ---------------------------------------------------------------------------------------------------------
# Where rnnsearch is, on a file system that all nodes see; without a value, build/rnnsearch of this project.
: "${RNNSEARCH=}"
# Modules with MPI, HDF5 and what else it was built with: "gcc/12 openmpi/4.1 hdf5/1.10"
: "${MODULES=}"

# --- what SLURM is asked for ---------------------------------------------------------------------------------------------
# `sinfo -s` lists partitions, `sacctmgr show user $USER withassoc` accounts. Empty: the site's own default.
: "${PARTITION=}"
: "${ACCOUNT=}"
: "${QOS=}"
# Nodes of one kind: "icelake". Ranks in bf16 must all have the same bfloat16 unit.
: "${CONSTRAINT=}"
# Memory of a node: "64G"; "0" is all of it. Sites that share nodes need it.
: "${NODE_MEMORY=}"
# Further #SBATCH options, separated by blanks: "--exclusive --mail-type=END"
: "${SBATCH_OPTIONS=}"
# The shape of a training. One rank a socket (or a NUMA domain) with all its cores as threads is a good beginning;
# cluster/node_check shows what the ranks get.
: "${NODES=2}"
: "${RANKS_PER_NODE=1}"
: "${CPUS_PER_RANK=16}"
# The longest that a job may take here is mostly not the best: short jobs start sooner, and nothing is lost between jobs.
: "${WALLTIME=12:00:00}"
# The short jobs around it: rnnsearch prepare on one node, and translating and scoring the test set.
: "${PREPARE_WALLTIME=2:00:00}"
: "${EVALUATE_WALLTIME=1:00:00}"

# --- MPI -----------------------------------------------------------------------------------------------------------------
# How ranks are started.
#   srun --mpi=pmix --kill-on-bad-exit=1   MPI and SLURM share PMIx (`srun --mpi=list` shows it). Without the second option the
#                                          other ranks wait for one that died.
#   mpirun --bind-to none                  every other Open MPI. Without --bind-to none it binds a rank to one core, and all its
#                                          threads share that.
# Without SLURM: "mpirun --hostfile hosts -n 4 --bind-to none".
: "${LAUNCHER=srun --mpi=pmix --kill-on-bad-exit=1}"
# MPI's own settings are variables that it reads; export them here (or in the modules):
# export UCX_NET_DEVICES=mlx5_0:1        export OMPI_MCA_btl_tcp_if_include=ib0

# --- file systems --------------------------------------------------------------------------------------------------------
# HDF5 locks the files it opens, and on Lustre and NFS without a lock service that fails. Nothing of ours is written in place
# while another reads it (a file is written under another name, and renamed when it is whole), so the lock protects nothing.
: "${HDF5_USE_FILE_LOCKING=FALSE}"

# --- the end of a job ----------------------------------------------------------------------------------------------------
# What follows when a training is stopped or fails before it is done: requeue puts the job back into the queue under its number;
# chain lets the next of several jobs go on, for sites that forbid requeueing (cluster/submit --chain N says how many).
: "${AFTER_STOP=requeue}"
# Options for every training. --stop-before M: it writes a checkpoint and stops M minutes before the job's end.
: "${TRAIN_OPTIONS=--stop-before 5}"
# The second line, if that did not work: so many seconds before the end SLURM signals the job. At least 120, because SLURM looks
# at limits every half minute only, and the two that follow must fit.
: "${SIGNAL_SECONDS=180}"
# A stopped training has so long to write its checkpoint and leave; then it is killed, and the job is requeued all the same. So
# long, too, mpirun may stay after its ranks on this host have ended: if it has lost another host, it would stay for ever.
: "${PATIENCE_SECONDS=90}"
# After so many failures in a row without a checkpoint between them the job gives up: what fails is not the machine.
: "${MAX_FAILURES=5}"
