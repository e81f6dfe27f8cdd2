# shellcheck shell=bash
# The values that depend on the site. Edit this file once, or set SITE to the path of an edited copy. An environment variable of
# the same name overrides a value, also if it is empty: PARTITION=long cluster/submit ...
# cluster/submit writes the values into the job's script, so a job keeps those that it was submitted with.

# --- the program ---------------------------------------------------------------------------------------------------------
# Path of the program, on a file system that all nodes see, or in the image; empty: build/rnnsearch of this project.
: "${RNNSEARCH=}"
# The command that starts a program in a container, if RNNSEARCH is a program in an image; empty: it is a program of the hosts. Each
# rank then has a container of its own, which LAUNCHER starts: see cluster/README.md#containers.
#   apptainer exec --bind /scratch /images/rnnsearch.sif
: "${CONTAINER=}"
# Modules that the program was built with: "gcc/12 openmpi/4.1 hdf5/1.10"
: "${MODULES=}"

# --- resources requested from SLURM --------------------------------------------------------------------------------------
# `sinfo -s` lists partitions, `sacctmgr show user $USER withassoc` lists accounts. Empty: the default of the site.
: "${PARTITION=}"
: "${ACCOUNT=}"
: "${QOS=}"
# A feature that all nodes must have, such as "icelake": in bf16 all ranks must have the same bfloat16 unit.
: "${CONSTRAINT=}"
# Memory of each node, such as "64G"; "0" requests all of it. Sites where jobs share nodes need a value.
: "${NODE_MEMORY=}"
# Other #SBATCH options, separated by spaces: "--exclusive --mail-type=END"
: "${SBATCH_OPTIONS=}"
# Nodes, ranks and CPUs of a training. One rank per socket (or NUMA domain) with all its cores as threads is a good start;
# cluster/node_check shows what the ranks get.
: "${NODES=2}"
: "${RANKS_PER_NODE=1}"
: "${CPUS_PER_RANK=16}"
# nomultithread: CPUS_PER_RANK counts cores, and a job uses one hardware thread of each, which is fastest for matrix products.
# multithread: all hardware threads. Empty: the default of the site, which may count hardware threads as CPUs.
# SLURM rejects it together with --threads-per-core, --ntasks-per-core or --cpu-bind.
: "${HINT=nomultithread}"
# Time limit of a training's job. The longest that the site allows is rarely best: short jobs start sooner, and a training loses
# nothing between jobs.
: "${WALLTIME=12:00:00}"
# Time limits of the jobs of cluster/experiment before and after the training: prepare, and evaluate on the test set.
: "${PREPARE_WALLTIME=2:00:00}"
: "${EVALUATE_WALLTIME=1:00:00}"

# --- MPI -----------------------------------------------------------------------------------------------------------------
# The command that starts the ranks.
#   srun --mpi=pmix --kill-on-bad-exit=1   if MPI and SLURM share PMIx (`srun --mpi=list` shows whether SLURM has it), as Open MPI
#                                          does. Without the second option the other ranks wait for one that died.
#   srun --mpi=pmi2 --kill-on-bad-exit=1   for MPICH, MVAPICH and Intel MPI
#   mpirun --bind-to none                  for any other Open MPI. Without --bind-to none it binds a rank, with all its threads, to
#                                          one core.
#   mpiexec --bind-to none                 for any other MPICH, MVAPICH and Intel MPI (Hydra)
# Without SLURM: "mpirun --hostfile hosts -n 4 --bind-to none".
: "${LAUNCHER=srun --mpi=pmix --kill-on-bad-exit=1}"
# MPI reads its own settings from environment variables; export them here or in the modules:
# export UCX_NET_DEVICES=mlx5_0:1        export OMPI_MCA_btl_tcp_if_include=ib0

# --- file systems --------------------------------------------------------------------------------------------------------
# HDF5 locks the files it opens, which fails on Lustre and on NFS without a lock service. The project needs no locks: it writes a
# file under another name and renames it when it is complete.
: "${HDF5_USE_FILE_LOCKING=FALSE}"

# --- the end of a job ----------------------------------------------------------------------------------------------------
# What happens when a training stops or fails before it is done. requeue: the job is requeued under its number. chain: the next of
# several jobs resumes the training, for sites that forbid requeueing (cluster/submit --chain N sets the number of jobs).
: "${AFTER_STOP=requeue}"
# Options for every training, unless its command line or --config has them. --stop-before M: write a checkpoint and stop M minutes before the job's end.
: "${TRAIN_OPTIONS=--stop-before 5}"
# If that fails, SLURM signals the job this many seconds before its end. Must be at least 120, because SLURM checks time limits only
# every half minute, and must leave time for PATIENCE_SECONDS.
: "${SIGNAL_SECONDS=180}"
# A stopped training has this many seconds to write its checkpoint and exit; then it is killed, and the job is requeued anyway. An
# mpirun whose ranks on this host have ended is killed after the same time, because it waits for ever if it has lost another host.
: "${PATIENCE_SECONDS=90}"
# The job fails after this many attempts in a row that added no update, in whatever way they ended.
: "${MAX_FAILURES=5}"
