// Checks whether a site can train: its ranks, clocks, vector units, files and network, tried as a training uses them.
// The functions that end in _finding judge facts and look at nothing themselves. All collectives below run on every
// rank of `communicator`, from the thread that created its Environment; what they find is at the root, and the other
// ranks get nothing. What is wrong with the site is a finding; an Error is thrown only where MPI itself fails.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "rnnsearch/base/option.h"
#include "rnnsearch/comm/communicator.h"

namespace rnnsearch::site {

/// kOk: as it should be. kWarning: training works, but slowly, or not everywhere alike. kFailed: training would fail,
/// or not survive.
enum class Level { kOk, kWarning, kFailed };
constexpr auto names_of(Level) { return in_order<Level>({"ok", "warning", "FAILED"}); }
using rnnsearch::name_of;

struct Finding {
  Level level = Level::kOk;
  std::string topic, text;
  std::string next_step;  // empty when it is ok
};

/// What every rank finds for itself.
struct NodeFacts {
  std::string host, instruction_set, bfloat16_unit;

  static auto fields(auto& facts) {  // for Packer
    return std::tie(facts.host, facts.instruction_set, facts.bfloat16_unit);
  }
};

/// COLLECTIVE. At the root the facts of all ranks, in rank order.
std::vector<NodeFacts> gather_facts(const comm::Communicator& communicator, const NodeFacts& own);
/// The number of different hosts.
std::size_t host_count(const std::vector<NodeFacts>& ranks);

/// `tasks` as SLURM_NTASKS, or SLURM_STEP_NUM_TASKS, says; 0: not said.
Finding ranks_finding(const std::vector<NodeFacts>& ranks, std::size_t tasks, const std::string& library);
std::vector<Finding> processor_findings(const std::vector<NodeFacts>& ranks);

/// COLLECTIVE. Seconds that each rank's clock is ahead of the root's, by the moments at which barriers end; the same on
/// every rank.
std::vector<double> clocks_ahead(const comm::Communicator& communicator);
Finding clock_finding(const std::vector<NodeFacts>& ranks, const std::vector<double>& seconds_ahead);

/// COLLECTIVE. Tries what a training does to files, in a folder of its own inside `folder` that is removed again: one
/// rank writes and all read, a file replaces another, a rank of every host writes, flock.
std::vector<Finding> check_folder(const comm::Communicator& communicator, const std::filesystem::path& folder);
/// `failure` of a trial lock, empty when it was granted; `setting` of HDF5_USE_FILE_LOCKING, empty when it is not set.
Finding lock_finding(const std::string& failure, const std::string& setting);

/// An all-reduce of floats, as gradients are summed: seconds are the median over repetitions of the slowest rank's
/// time, and GB/s is the size of the buffer in 10^9 bytes divided by them. (With R ranks in a ring, 2 (R - 1) / R times
/// as many bytes leave and enter every rank.)
struct Sum {
  std::size_t bytes = 0;
  double seconds = 0;  // 0: the sum was wrong
  double gigabytes_per_second() const { return seconds > 0 ? static_cast<double>(bytes) / 1e9 / seconds : 0; }
};
/// COLLECTIVE. Sums of 8 bytes, 1 MB and 64 MB, the same on every rank; none in a communicator of one.
std::vector<Sum> time_sums(const comm::Communicator& communicator);
/// One for each sum, and what the largest means for the gradient of the paper's model. `hosts` of the ranks.
std::vector<Finding> sum_findings(const std::vector<Sum>& sums, std::size_t ranks, std::size_t hosts);
/// gigabytes_per_second of the largest buffer.
Finding bandwidth_finding(std::size_t ranks, std::size_t hosts, double gigabytes_per_second);

}  // namespace rnnsearch::site
