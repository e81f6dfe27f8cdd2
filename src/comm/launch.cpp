#include "rnnsearch/comm/launch.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/host_name.h"

namespace rnnsearch::comm {
namespace {

// The variables in which process managers give a process its rank and the number of ranks. The first manager whose
// variables are set decides: mpirun and mpiexec start their daemons with srun, so the variables of that step are still
// set in the ranks.
struct Manager {
  const char* rank;
  const char* size;  // nullptr: this manager has no such variable
};
constexpr std::array kManagers{
    // Open MPI's mpirun: docs.open-mpi.org, "Environment variables set for MPI applications".
    Manager{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    // PMI-1, which reads both in PMI_Init (MPICH, src/pmi). Set by Hydra (MPICH, Intel MPI: "Environment Variables Not
    // Propagated by Hydra"), by `srun --mpi=pmi2`, by HPE's PALS and by Flux.
    Manager{"PMI_RANK", "PMI_SIZE"},
    // PMIx: set by `srun --mpi=pmix` and PRRTE's prun. A client without PMIX_RANK has no server (OpenPMIx, PMIx_Init).
    Manager{"PMIX_RANK", nullptr},
};

const char* set_to(const Lookup& environment, const char* name) {
  const char* text = name ? environment(name) : nullptr;
  return text && *text != '\0' ? text : nullptr;
}

std::optional<long> number_in(const Lookup& environment, const char* name) {
  const char* text = set_to(environment, name);
  return text ? std::optional(std::strtol(text, nullptr, 10)) : std::nullopt;
}

// In a step of srun, SLURM_STEP_NUM_TASKS is the number of its processes (over all components of a heterogeneous step)
// and SLURM_PROCID the number of this one; see srun(1). A batch script and a shell of salloc have only the variables of
// the job.
bool in_a_step(const Lookup& environment) {
  return set_to(environment, "SLURM_STEP_ID") && set_to(environment, "SLURM_STEP_NUM_TASKS");
}

}  // namespace

Launch launch_of(const Lookup& environment) {
  Launch launch;
  std::optional<long> processes, rank, most;
  const auto say = [&](std::optional<long> its_size, std::optional<long> its_rank) {
    if (!processes && its_size) {
      processes = its_size;
      rank = its_rank;
    }
    if (!rank) rank = its_rank;
    most = std::max(most, its_size);  // an empty optional is less than any number
  };
  for (const Manager& manager : kManagers) {
    const auto its_size = number_in(environment, manager.size), its_rank = number_in(environment, manager.rank);
    if (its_size || its_rank) launch.by_launcher = true;
    say(its_size, its_rank);
  }
  if (in_a_step(environment)) {
    say(number_in(environment, "SLURM_STEP_NUM_TASKS"), number_in(environment, "SLURM_PROCID"));
  }
  launch.processes = std::max(1L, processes.value_or(1));
  launch.rank = rank.value_or(0);
  // If the variables contradict each other, some were inherited from an outer launcher; MPI finds out which.
  launch.needs_mpi = launch.by_launcher && most.value_or(2) > 1;
  return launch;
}

Launch this_launch() {
  return launch_of([](const char* name) -> const char* { return std::getenv(name); });
}

std::string place(const Lookup& environment) {
  for (const Manager& manager : kManagers) {
    if (const char* rank = set_to(environment, manager.rank)) return text_of("rank ", rank, " on ", host_name());
  }
  return text_of("a rank on ", host_name());
}

void check_launch(const Lookup& environment, int world_size) {
  if (world_size > 1) return;
  for (const Manager& manager : kManagers) {
    const auto processes = number_in(environment, manager.size);
    if (!processes) continue;
    if (*processes <= 1) return;  // the user asked for one rank, so the size of the job does not matter
    // srun itself set the variables of this manager: the message about srun below fits better.
    if (in_a_step(environment) && processes == number_in(environment, "SLURM_STEP_NUM_TASKS")) break;
    throw Error(text_of("comm: ", manager.size, " says that a launcher started ", *processes,
                        " processes, but MPI knows only this one: the launcher belongs to a different MPI than the one "
                        "rnnsearch was built with; use the mpirun of the MPI that `rnnsearch node-check` names"));
  }
  const bool step = in_a_step(environment);
  const long tasks = number_in(environment, step ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS").value_or(0);
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
