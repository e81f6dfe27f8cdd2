// How the ranks of a command begin: on threads that fit on their hosts.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "rnnsearch/cli/options.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/site/placement.h"

namespace rnnsearch::cli {

inline constexpr std::size_t kMostThreads = 4096;  // of a rank, that --threads accepts

/// --threads, --oversubscribe and --stall-timeout.
struct ThreadOptions {
  std::optional<std::size_t> threads;  // of each rank; not given: its share of the CPUs
  bool oversubscribe = false;
  double stall_timeout = comm::kStallTimeout;  // seconds, see comm::Communicator
  bool warn = true;                            // of more threads than cores, or than a quota of CPUs
};
/// Declares them in the group at hand.
void add_threads(Options& options, ThreadOptions& threads);
/// Declares all but --threads, for a command that has its own.
void add_thread_limits(Options& options, ThreadOptions& threads);

/// More threads than CPUs are refused unless this is true: the option, or the switch RNNSEARCH_OVERSUBSCRIBE of the
/// environment (tests on small machines). Throws UsageError.
bool oversubscription_is_meant(const ThreadOptions& options);

/// COLLECTIVE. site::settle_threads with these options; hands this rank's number to set_thread_count, and the stall
/// timeout to comm, and logs what site::threads_beyond_cores and site::threads_beyond_quota say. Returns at the root
/// one place a rank, nothing elsewhere. Throws AgreedError.
std::vector<site::RankPlace> settle_threads(const ThreadOptions& options, const comm::Communicator& communicator);

/// COLLECTIVE. While it lives, the other ranks wait for the root as long as it takes, if a text at the root is standard
/// input (an empty path) or a pipe, whose writer may take hours; else --stall-timeout holds.
class PatienceForPipes {
 public:
  PatienceForPipes(const std::vector<std::filesystem::path>& texts, double stall_timeout,
                   const comm::Communicator& communicator);
  ~PatienceForPipes() { communicator_.set_stall_timeout(stall_timeout_); }
  PatienceForPipes(const PatienceForPipes&) = delete;
  PatienceForPipes& operator=(const PatienceForPipes&) = delete;

 private:
  double stall_timeout_;
  const comm::Communicator& communicator_;
};

}  // namespace rnnsearch::cli
