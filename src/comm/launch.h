// How this process was started, read from the environment alone.
#pragma once

#include <functional>
#include <string>

namespace rnnsearch::comm {

/// The value of an environment variable, nullptr when it is not set.
using Lookup = std::function<const char*(const char* name)>;

/// mpirun or a PMIx-speaking srun started this process.
bool has_launcher(const Lookup& environment);

/// "rank 1 on n2", or "a rank on n2": before MPI itself can say.
std::string place(const Lookup& environment);

/// Throws Error when SLURM granted several tasks but this world has one rank. Two ways lead there:
///   - `srun` without PMIx starts N processes that do not know of each other, each a world of 1: N trainers would write
///     the same files (open-mpi/ompi#10286).
///   - a batch script, or a shell of salloc, starts one process without a launcher: one rank works, the others' cores
///   idle.
/// Both are refused; whoever wants one rank says so (`mpirun -n 1`, `srun -n 1`). Only commands that make an
/// Environment come here: `prepare` and `inspect` run in any batch script.
void check_launch(const Lookup& environment, int world_size);

}  // namespace rnnsearch::comm
