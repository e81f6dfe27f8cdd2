// How this process was started. This is the only place that reads the environment variables of launchers.
#pragma once

#include <functional>
#include <string>

namespace rnnsearch::comm {

/// The value of an environment variable, nullptr when it is not set.
using Lookup = std::function<const char*(const char* name)>;

/// What the environment says of the launcher, before MPI can say anything.
struct Launch {
  /// A process manager that MPI can talk to started this process, or an ancestor that passed its environment on.
  bool by_launcher = false;
  /// Processes that were started together, and the number of this one among them. 1 and 0 where nothing says otherwise.
  long processes = 1, rank = 0;
  /// MPI_Init must be called to reach the other ranks. False for a process without a launcher, and for one whose
  /// launcher says that it started a single process (`mpirun -n 1`).
  bool needs_mpi = false;
};

Launch launch_of(const Lookup& environment);
/// From the environment of this process.
Launch this_launch();

/// "rank 1 on n2", or "a rank on n2" when the environment does not number the ranks. For messages from a time when MPI
/// cannot say it.
std::string place(const Lookup& environment);

/// Throws Error when this process is a world of `world_size` = 1 although several processes were meant:
///   - `srun` without PMIx starts N processes that do not know of each other, each a world of 1: N trainers would write
///     the same files (open-mpi/ompi#10286).
///   - The mpirun of another MPI than this program was built with does the same.
///   - In a batch script, or a shell of salloc, a process without a launcher is alone: one rank works, and the cores of
///     the other tasks idle.
/// Whoever wants one rank says so (`mpirun -n 1`, `srun -n 1`). Only commands that make an Environment are checked:
/// `prepare` and `inspect` run in any batch script.
void check_launch(const Lookup& environment, int world_size);

}  // namespace rnnsearch::comm
