// Whether this site can train: what a user runs first on a cluster, started as a training would be started.
//
// One finding a line, of one of three levels:
//   ok       as it should be
//   warning  training works, but slowly, or not everywhere alike
//   FAILED   training would fail, or not survive; the exit code is then 1
// The figures of allreduce are of Communicator::sum on buffers of floats, as gradients are summed: seconds are the
// median over repetitions of the slowest rank's time, and GB/s is the size of the buffer in 10^9 bytes divided by them.
// (With R ranks in a ring, 2 (R - 1) / R times as many bytes leave and enter every rank.)
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rnnsearch/base/json.h"
#include "rnnsearch/cli/options.h"

namespace rnnsearch::cli {

int run_node_check(const Arguments& arguments);

enum class Level { kOk, kWarning, kFailed };

struct Finding {
  Level level = Level::kOk;
  std::string topic, text;
  std::string next_step;  // empty when it is ok
};

/// What every rank finds for itself.
struct NodeFacts {
  std::string host, instruction_set, bfloat16_unit;
  std::size_t cpus_expected =
      0;  // of its host, for this job: what SLURM granted, else all that there are; 0: not known
};

// What follows from the facts of all ranks; nothing here looks at the machine.

/// `tasks` as SLURM_NTASKS, or SLURM_STEP_NUM_TASKS, says; 0: not said.
Finding ranks_finding(const std::vector<NodeFacts>& ranks, std::size_t tasks, const std::string& library);
/// One a host. `cpus_allowed`: all that some rank of the host may use, in the order of first ranks.
std::vector<Finding> cpus_findings(const std::vector<NodeFacts>& ranks, const std::vector<std::size_t>& cpus_allowed);
std::vector<Finding> processor_findings(const std::vector<NodeFacts>& ranks);
/// Seconds that each rank's clock is ahead of the root's.
Finding clock_finding(const std::vector<NodeFacts>& ranks, const std::vector<double>& seconds_ahead);
/// `failure` of a trial lock, empty when it was granted; `setting` of HDF5_USE_FILE_LOCKING, empty when it is not set.
Finding lock_finding(const std::string& failure, const std::string& setting);
/// gigabytes_per_second of the largest buffer.
Finding bandwidth_finding(std::size_t ranks, std::size_t hosts, double gigabytes_per_second);

}  // namespace rnnsearch::cli
