// How the ranks of a command begin: with the same options, and on threads that fit on their hosts.
#pragma once

#include <cstddef>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "rnnsearch/cli/options.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/comm/placement.h"

namespace rnnsearch::cli {

/// COLLECTIVE. AgreedError, naming the first option that differs, unless all ranks have the same values of all recorded
/// options: a configuration file may be another one on another host.
void check_same_options(const comm::Communicator& world, const Options& options);

/// COLLECTIVE. For an error that came before check_same_options, which is the first meeting of the ranks that run a
/// command: joins the others there, and throws AgreedError on all ranks, so that they leave in order with the exit code
/// of the error. (After MPI_Abort, srun returns a code of its own.) An error that came later is thrown again.
[[noreturn]] void fail_with_the_others(const comm::Communicator& world, std::exception_ptr error);

inline constexpr std::size_t kMostThreads = 4096;  // of a rank, that --threads accepts

/// --threads, --oversubscribe and --stall-timeout.
struct ThreadOptions {
  std::optional<std::size_t> threads;  // of each rank; not given: its share of the CPUs
  bool oversubscribe = false;
  double stall_timeout = comm::kStallTimeout;  // seconds, see comm::set_stall_timeout
  bool warn = true;                            // of more threads than cores, or than a quota of CPUs
};
/// Declares them in the group at hand.
void add_threads(Options& options, ThreadOptions& threads);
/// Declares all but --threads, for a command that has its own.
void add_thread_limits(Options& options, ThreadOptions& threads);

/// More threads than CPUs are refused unless this is true: the option, or the switch RNNSEARCH_OVERSUBSCRIBE of the
/// environment (tests on small machines). Throws UsageError.
bool oversubscription_is_meant(const ThreadOptions& options);

/// COLLECTIVE. comm::settle_threads with these options; hands this rank's number to set_thread_count, and the stall
/// timeout to comm, and logs what comm::threads_beyond_cores and comm::threads_beyond_quota say. Returns at the root
/// one place a rank, nothing elsewhere. Throws AgreedError.
std::vector<comm::RankPlace> settle_threads(const ThreadOptions& options, const comm::Communicator& world);

/// COLLECTIVE. While it lives, the other ranks wait for the root as long as it takes, if a text at the root is standard
/// input (an empty path) or a pipe, whose writer may take hours; else --stall-timeout holds.
class PatienceForPipes {
 public:
  PatienceForPipes(const std::vector<std::filesystem::path>& texts, double stall_timeout,
                   const comm::Communicator& world);
  ~PatienceForPipes() { comm::set_stall_timeout(stall_timeout_); }
  PatienceForPipes(const PatienceForPipes&) = delete;
  PatienceForPipes& operator=(const PatienceForPipes&) = delete;

 private:
  double stall_timeout_;
};

}  // namespace rnnsearch::cli
