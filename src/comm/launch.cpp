#include "rnnsearch/comm/launch.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/machine.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/comm/meet.h"

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
    // MVAPICH2's mpirun_rsh: MVAPICH2 User Guide, "MPIRUN_RSH Parameters".
    Manager{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
    // PMI-1, which reads both in PMI_Init (MPICH, src/pmi). Set by Hydra (MPICH, Intel MPI: "Environment Variables Not
    // Propagated by Hydra"), by `srun --mpi=pmi2`, by Flux (flux-environment(7)), and for Cray MPICH by HPE's PALS and
    // by `srun --mpi=cray_shasta` (SLURM, src/plugins/mpi/cray_shasta).
    Manager{"PMI_RANK", "PMI_SIZE"},
    // The same over a TCP port (mpiexec.hydra -pmi-port), where the size comes from the server (MPICH, simple_pmi.c).
    Manager{"PMI_ID", nullptr},
    // PALS and cray_shasta again (SLURM, mpi_cray_shasta.c: "Environment variables available for applications").
    Manager{"PALS_RANKID", nullptr},
    // Flux, also if its PMI server is off (-o pmi=none): flux-environment(7). It unsets them in batch scripts.
    Manager{"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
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

// What `srun --mpi=` is to be given for an MPI. Open MPI: docs.open-mpi.org, "Launching with Slurm". MPICH, MVAPICH and
// Intel MPI: slurm.schedmd.com/mpi_guide.html. Cray MPICH: the same page names its plugin.
const char* srun_protocol_of(const std::string& mpi) {
  const auto is = [&](const char* name) { return mpi.find(name) != std::string::npos; };
  return is("Open MPI") ? "pmix" : is("CRAY") ? "cray_shasta" : "pmi2";
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

Launch this_launch() { return launch_of(::getenv); }

double start_timeout(const Lookup& environment) {
  const char* const text = environment("RNNSEARCH_START_TIMEOUT");
  if (!text || *text == '\0') return kStartTimeout;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(seconds >= 0))
    throw UsageError("comm: RNNSEARCH_START_TIMEOUT is '{}', expected seconds, 0 for no limit", text);
  return seconds;
}

std::string rank_name(const Lookup& environment) {
  const Launch launch = launch_of(environment);
  return fmt::format("{} on {}", launch.by_launcher ? fmt::format("rank {}", launch.rank) : "a rank", host_name());
}

void check_launch(const Lookup& environment, int ranks, const std::string& mpi) {
  if (ranks > 1) return;
  for (const Manager& manager : kManagers) {
    const auto processes = number_in(environment, manager.size);
    if (!processes) continue;
    if (*processes <= 1) return;  // the user asked for one rank, so the size of the job does not matter
    // srun itself set the variables of this manager: the message about srun below fits better.
    if (in_a_step(environment) && processes == number_in(environment, "SLURM_STEP_NUM_TASKS")) break;
    throw AgreedError(
        fmt::format("comm: {} says that a launcher started {} processes, but MPI ({}) knows only this one: the "
                    "launcher belongs to a different MPI, or speaks a protocol that this one does not; use the "
                    "launcher of the MPI that rnnsearch was built with",
                    manager.size, *processes, mpi));
  }
  const bool step = in_a_step(environment);
  const long tasks = number_in(environment, step ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS").value_or(0);
  if (step && tasks > 1) {
    throw AgreedError(
        fmt::format("comm: srun started {} processes, but MPI ({}) knows only this one: srun and this MPI do not speak "
                    "the same protocol; use `srun --mpi={} ...` (see `srun --mpi=list`) or `mpirun ...` inside the job",
                    tasks, mpi, srun_protocol_of(mpi)));
  }
  if (step) return;
  bool launched = false;
  for (const Manager& manager : kManagers) {
    const auto rank = number_in(environment, manager.rank);
    launched |= rank.has_value();
    if (rank.value_or(0) == 0) continue;
    // Its first process does not know how many there are, so it could not speak for this one.
    throw Error(
        "comm: {} says that this is process {} of several, but MPI ({}) knows only this one: the launcher belongs to a "
        "different MPI; use the launcher of the MPI that rnnsearch was built with",
        manager.rank, *rank, mpi);
  }
  if (launched || tasks <= 1) return;
  throw AgreedError(
      fmt::format("comm: SLURM granted {} tasks, but this is one process without a launcher; start it with `mpirun "
                  "...` or `srun --mpi={} ...`, or with `mpirun -n 1 ...` if one rank is intended",
                  tasks, srun_protocol_of(mpi)));
}

}  // namespace rnnsearch::comm
