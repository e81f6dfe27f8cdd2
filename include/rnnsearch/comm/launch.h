// Detects how this process was started. No other file reads the environment variables of launchers.
#pragma once

#include <functional>
#include <string>

namespace rnnsearch::comm {

/// Returns the value of an environment variable, or nullptr if it is not set.
using Lookup = std::function<const char*(const char* name)>;

/// What the environment variables say about the launcher. Available before MPI is initialised.
struct Launch {
  /// Whether a process manager that MPI can talk to started this process, or an ancestor whose environment it
  /// inherited.
  bool by_launcher = false;
  /// Number of processes that were started together, and the number of this one among them. Defaults: 1 and 0. A
  /// manager may tell the second without the first; MPI knows both.
  long processes = 1, rank = 0;
  /// Whether MPI_Init must be called to reach the other ranks. False for a process without a launcher, and for one
  /// whose launcher says that it started a single process (`mpirun -n 1`).
  bool needs_mpi = false;

  /// False only if this is certainly the only process: then no command needs an Environment.
  bool may_be_several() const { return needs_mpi || processes > 1; }
};

Launch launch_of(const Lookup& environment);
/// launch_of for the environment of this process.
Launch this_launch();

/// RNNSEARCH_START_TIMEOUT, or kStartTimeout if it is not set: seconds, 0 for no limit. Throws UsageError.
double start_timeout(const Lookup& environment);

/// "rank 1 on n2", or "a rank on n2" if the environment does not number the ranks. For messages that are logged before
/// MPI is initialised or while it cannot be called.
std::string rank_name(const Lookup& environment);

/// Throws Error if this process is the only one (`ranks` = 1) although the user meant to start several processes:
///   - `srun` without a protocol that MPI speaks starts N processes, each of which takes itself to be alone; N trainers
///     would write the same files (open-mpi/ompi#10286).
///   - The launcher of another MPI than this program was built with does the same.
///   - In a batch script, or a shell of salloc, a process without a launcher is alone: one rank works while the cores
///     of the other tasks are idle.
/// It is an AgreedError where the variables tell all processes that they are several, so that the first one speaks for
/// all. A user who wants one rank asks for it (`mpirun -n 1`, `srun -n 1`). Only commands that create an Environment
/// are checked: `prepare` and `inspect` run in any batch script. mpi: what library() returns.
void check_launch(const Lookup& environment, int ranks, const std::string& mpi);

}  // namespace rnnsearch::comm
