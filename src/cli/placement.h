// Which rank computes where, and on how many threads.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rnnsearch/cli/options.h"
#include "rnnsearch/comm/communicator.h"

namespace rnnsearch::cli {

struct ThreadOptions {
  /// Of each rank; not given: the CPUs that it may use, divided by the ranks of its host that may use them too.
  std::optional<std::size_t> threads;
  bool oversubscribe = false;                  // more threads than CPUs are meant
  double stall_timeout = comm::kStallTimeout;  // seconds, see comm::set_stall_timeout
};
/// Declares --threads, --oversubscribe and --stall-timeout, in the group at hand.
void add_threads(Options& options, ThreadOptions& threads);

struct RankPlace {
  std::string host;
  std::size_t threads = 1;
  std::string cpus;  // that it may use, as Linux lists them: "0-3,8"; empty: not known
};

/// COLLECTIVE. Settles the threads of every rank and hands this rank's to set_thread_count. At the root one place a
/// rank, nothing elsewhere. Throws AgreedError when ranks that share CPUs have more threads than there are, unless
/// `oversubscribe`, or RNNSEARCH_OVERSUBSCRIBE=1 in the root's environment, says that this is meant (tests on small
/// machines).
std::vector<RankPlace> settle_threads(const ThreadOptions& options, const comm::Communicator& world);

/// More threads than CPUs are refused unless this is true.
bool oversubscription_is_meant(const ThreadOptions& options);

/// How many CPUs the ranks of each host may use together, hosts in the order of their first ranks.
std::vector<std::size_t> cpus_by_host(const std::vector<RankPlace>& places);

/// Every place with 0 threads gets its share: its CPUs divided by the ranks of its host that may use one of them; at
/// least 1.
void share_cpus(std::vector<RankPlace>& places);

/// Where threads are too many: one sentence for the first ranks, of one host, that have more threads together than the
/// CPUs they may use; empty when there are none. Ranks are bound to sets of CPUs that are equal, nested or disjoint, or
/// overlap in part: then those that are linked by overlaps are counted together.
std::string oversubscription(const std::vector<RankPlace>& places);

/// Lines for people: where the ranks are, and a warning of oversubscription.
std::vector<std::string> describe(const std::vector<RankPlace>& places);

}  // namespace rnnsearch::cli
