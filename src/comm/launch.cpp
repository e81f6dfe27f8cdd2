#include "comm/launch.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "rnnsearch/base/error.h"

namespace rnnsearch::comm {
namespace {

long number_in(const Lookup& environment, const char* name) {
  const char* text = environment(name);
  return text ? std::strtol(text, nullptr, 10) : 0;
}

}  // namespace

bool has_launcher(const Lookup& environment) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"}) {
    if (environment(name)) return true;
  }
  return false;
}

std::string place(const Lookup& environment) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (const char* rank = environment(name)) return text_of("rank ", rank, " on ", host.data());
  }
  return text_of("a rank on ", host.data());
}

void check_launch(const Lookup& environment, int world_size) {
  if (world_size > 1 || environment("OMPI_COMM_WORLD_SIZE")) return;  // mpirun sets it for one rank too
  // Inside a step SLURM_STEP_NUM_TASKS counts the step's own tasks; a batch script and a shell of salloc are no steps.
  const bool step = environment("SLURM_STEP_ID") && environment("SLURM_STEP_NUM_TASKS");
  const long tasks = number_in(environment, step ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS");
  if (tasks <= 1) return;
  if (step) {
    throw Error(
        text_of("comm: srun started ", tasks,
                " processes, but MPI knows only this one: srun and Open MPI do not speak the same protocol; use "
                "`srun --mpi=pmix ...` (see `srun --mpi=list`) or `mpirun ...` inside the job"));
  }
  throw Error(
      text_of("comm: SLURM granted ", tasks,
              " tasks, but this is one process without a launcher; start it with `mpirun ...` or `srun --mpi=pmix "
              "...`, or with `mpirun -n 1 ...` if one rank is meant"));
}

}  // namespace rnnsearch::comm
