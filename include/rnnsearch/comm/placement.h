// Which rank computes where, and on how many threads. All but settle_threads judge facts and look at nothing.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "rnnsearch/comm/communicator.h"

namespace rnnsearch::comm {

struct RankPlace {
  std::string host;
  std::size_t threads = 1;
  std::string cpus;               // that it may use, as Linux lists them: "0-3,8"; empty: not known
  std::string cores = "";         // of these CPUs, each by its lowest-numbered CPU: "0-3"; empty: not known
  std::string numa_domains = "";  // of these CPUs: "0-1"; empty: not known
};

struct Placement {
  std::vector<RankPlace> places;  // at the root one a rank, in rank order; nothing elsewhere
  std::size_t threads = 1;        // of this rank
};

/// COLLECTIVE. Settles the threads of every rank: `threads` of them, or if 0 the CPUs that it may use, divided by the
/// ranks of its host that may use them too. Throws AgreedError when ranks that share CPUs have more threads than there
/// are, unless `oversubscribe` says at the root that this is meant.
Placement settle_threads(const Communicator& world, std::size_t threads, bool oversubscribe);

/// Sets the cores and NUMA domains of place.cpus from the files in `system`: on Linux /sys/devices/system. CPUs of
/// which they say nothing, because they are offline, are left out.
void locate(RankPlace& place, const std::filesystem::path& system);

/// How many CPUs the ranks of each host may use together; one entry a host, in the order of first ranks.
std::vector<std::size_t> cpus_by_host(const std::vector<RankPlace>& places);

/// Every place with 0 threads gets its share: its CPUs divided by the ranks of its host that may use one of them; at
/// least 1.
void share_cpus(std::vector<RankPlace>& places);

/// Where threads are too many: one sentence for the first ranks, of one host, that have more threads together than the
/// CPUs they may use; empty when there are none. Ranks are bound to sets of CPUs that are equal, nested or disjoint, or
/// overlap in part: then those that are linked by overlaps are counted together.
std::string oversubscription(const std::vector<RankPlace>& places);

/// At most two sentences: the first rank with more threads than cores, and the first rank whose CPUs are in several
/// NUMA domains. Both are allowed and usually slow.
std::vector<std::string> slow_bindings(const std::vector<RankPlace>& places);

/// Lines for people: where the ranks are, alike hosts on one line, and a warning of oversubscription.
std::vector<std::string> describe(const std::vector<RankPlace>& places);

}  // namespace rnnsearch::comm
