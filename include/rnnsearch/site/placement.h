// The CPUs and the number of threads of each rank. Only settle_threads reads the state of the machine; the other
// functions compute from their arguments.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "rnnsearch/base/machine.h"
#include "rnnsearch/comm/communicator.h"

namespace rnnsearch::site {

struct RankPlace {
  std::string host;
  std::size_t threads = 1;
  std::string cpus;               // the CPUs that the rank may use, as Linux lists them: "0-3,8"; empty: not known
  std::string cores = "";         // of these CPUs, each by its lowest-numbered CPU: "0-3"; empty: not known
  std::string core_cpus = "";     // all hardware threads of these cores; empty: not known
  std::string numa_domains = "";  // of these CPUs: "0-1"; empty: not known
  CpuQuota quota{};               // of the rank's cgroup
  std::size_t cpus_of_job = 0;    // of the host: what SLURM granted, else what the launcher may use; 0: not known
  std::string boot = "";  // the machine: hosts of one machine, such as containers, share its CPUs; empty: the host

  static auto fields(auto& place) {  // for Packer
    return std::tie(place.host, place.threads, place.cpus, place.cores, place.core_cpus, place.numa_domains,
                    place.quota.cpus, place.quota.cgroup, place.quota.file, place.cpus_of_job, place.boot);
  }
};

struct Placement {
  std::vector<RankPlace> places;  // at the root, one per rank in rank order; on other ranks empty
  std::size_t threads = 1;        // of this rank
};

/// COLLECTIVE. Determines the number of threads of every rank: `threads`, or if that is 0, the number of CPUs that the
/// rank may use divided by the number of ranks that share them, and at most its share of its quota. Throws AgreedError
/// if ranks that share CPUs have more threads than CPUs, unless `oversubscribe` is set at the root.
Placement settle_threads(const comm::Communicator& communicator, std::size_t threads, bool oversubscribe);

/// Sets the cores and NUMA domains of place.cpus from the files in `system`: on Linux /sys/devices/system. CPUs of
/// which they say nothing, because they are offline, are left out.
void locate(RankPlace& place, const std::filesystem::path& system);

/// The number of different hosts.
std::size_t host_count(const std::vector<RankPlace>& places);

/// Sets the threads of every place that has 0: its number of CPUs divided by the number of ranks of its machine that
/// may use one of them, and at most its share of a quota, but at least 1.
void share_cpus(std::vector<RankPlace>& places);

/// Describes oversubscription: one sentence about the first ranks of a machine that together have more threads than
/// CPUs; empty if there are none. Ranks are bound to sets of CPUs that are equal, nested or disjoint, or overlap in
/// part: then those that are linked by overlaps are counted together.
std::string oversubscription(const std::vector<RankPlace>& places);

/// What to do about too many threads: advice for the end of a sentence.
std::string remedy();

/// A sentence about the first rank with more threads than cores; empty if there is none.
std::string threads_beyond_cores(const std::vector<RankPlace>& places);
/// A sentence about the first ranks that have more threads than their quota of CPUs; empty if there are none.
std::string threads_beyond_quota(const std::vector<RankPlace>& places);

/// A sentence about the first host of which the job has more CPUs than its ranks may use; empty if there is none.
std::string idle_cpus(const std::vector<RankPlace>& places);

/// What threads_beyond_cores and threads_beyond_quota say, and a sentence about the first rank whose CPUs are in
/// several NUMA domains. All are allowed and usually slow.
std::vector<std::string> slow_bindings(const std::vector<RankPlace>& places);

/// "a, b, c, ...": the first eight, because no line is endless on a thousand hosts.
std::string listed(std::vector<std::string> items, const char* separator = ", ");

/// Log lines that say where the ranks are, with equal hosts on one line, and that warn if sums cannot begin within
/// hosts or if there is oversubscription.
std::vector<std::string> describe(const std::vector<RankPlace>& places);

}  // namespace rnnsearch::site
