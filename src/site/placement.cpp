#include "rnnsearch/site/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/option.h"
#include "rnnsearch/base/packed.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/comm/launch.h"
#include "rnnsearch/comm/meet.h"

namespace rnnsearch::site {
namespace {

using Cpus = std::set<int>;

/// What has the CPUs that the rank may use.
const std::string& machine_of(const RankPlace& place) { return place.boot.empty() ? place.host : place.boot; }

bool share_quota(const RankPlace& a, const RankPlace& b) {
  return a.quota && b.quota && a.quota.cgroup == b.quota.cgroup && machine_of(a) == machine_of(b);
}

bool overlap(const Cpus& a, const Cpus& b) {
  return std::any_of(a.begin(), a.end(), [&](int cpu) { return b.contains(cpu); });
}

/// Ranks of one host and what they share.
struct Sharers {
  std::vector<std::string> ranks;
  std::size_t threads = 0;
  Cpus cpus;

  void add(std::size_t rank, const RankPlace& place) {
    ranks.push_back(std::to_string(rank));
    threads += place.threads;
    cpus.merge(cpus_of(place.cpus));
  }
  bool too_many() const { return !cpus.empty() && threads > cpus.size(); }
};

/// "0-3,8"
std::string list_of(const Cpus& cpus) {
  std::string list;
  for (auto it = cpus.begin(); it != cpus.end();) {
    const int first = *it;
    int last = first;
    while (++it != cpus.end() && *it == last + 1) ++last;
    list += fmt::format("{}{}", list.empty() ? "" : ",", first);
    if (last > first) list += fmt::format("-{}", last);
  }
  return list;
}

std::string sentence_of(const Sharers& sharers, const std::string& host) {
  return fmt::format("on {} {} ({}: {}) would share {} ({})", host, counted(sharers.threads, "thread"),
                     counted(sharers.ranks.size(), "rank"), listed(sharers.ranks), counted(sharers.cpus.size(), "CPU"),
                     list_of(sharers.cpus));
}

/// The first line of a file of /sys; empty if there is none.
std::string line_of(const std::filesystem::path& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line;
}

/// For RankPlace::cpus_of_job. The launcher is the parent of this process, which it has bound to some CPUs.
std::size_t cpus_of_job() {
  if (!comm::this_launch().by_launcher) return 0;
  const char* const granted = std::getenv("SLURM_CPUS_ON_NODE");
  std::size_t cpus = 0;
  return granted && value::read(granted, cpus) ? cpus : cpus_of(allowed_cpu_list(::getppid())).size();
}

/// "16 threads on 8 cores, CPUs 0-7,16-23 (NUMA domain 0)", which several ranks separate by "|".
struct HostSummary {
  std::size_t threads = 0;
  Cpus cores;
  bool cores_known = true;
  std::vector<std::string> lists;  // of each rank
  std::string quota;

  void add(const RankPlace& place) {
    if (place.quota && quota.empty())
      quota = fmt::format(", quota of {:g} CPUs ({})", place.quota.cpus, place.quota.file);
    threads += place.threads;
    cores.merge(cpus_of(place.cores));
    cores_known = cores_known && !place.cores.empty();
    lists.push_back(place.cpus);
    if (place.numa_domains.empty()) return;
    const bool one = place.numa_domains.find_first_of(",-") == std::string::npos;
    lists.back() += fmt::format(" (NUMA {} {})", one ? "domain" : "domains", place.numa_domains);
  }
  std::string text() const {
    return fmt::format("{}, {}{}, CPUs {}{}", counted(lists.size(), "rank"), counted(threads, "thread"),
                       cores_known ? " on " + counted(cores.size(), "core") : "", listed(lists, " | "), quota);
  }
};

}  // namespace

std::string listed(std::vector<std::string> items, const char* separator) {
  constexpr std::size_t kMost = 8;
  if (items.size() > kMost) {
    items.resize(kMost);
    items.emplace_back("...");
  }
  return fmt::to_string(fmt::join(items, separator));
}

std::string remedy() {
  return "give fewer --threads, start fewer ranks, or let the launcher bind the ranks to more cores (" +
         comm::launch_without_binding() + ")";
}

void locate(RankPlace& place, const std::filesystem::path& system) {
  Cpus cores, core_cpus, domains;
  const Cpus cpus = cpus_of(place.cpus);
  for (const int cpu : cpus) {
    // "0,16" or "0-1": the hardware threads of its core
    const Cpus core = cpus_of(line_of(system / fmt::format("cpu/cpu{}/topology/thread_siblings_list", cpu)));
    if (core.empty()) continue;
    cores.insert(*core.begin());
    core_cpus.insert(core.begin(), core.end());
  }
  place.cores = list_of(cores);
  place.core_cpus = list_of(core_cpus);
  for (const int domain : cpus_of(line_of(system / "node/online"))) {
    if (overlap(cpus, cpus_of(line_of(system / fmt::format("node/node{}/cpulist", domain))))) domains.insert(domain);
  }
  place.numa_domains = list_of(domains);
}

std::size_t host_count(const std::vector<RankPlace>& places) {
  std::set<std::string> hosts;
  for (const auto& place : places) hosts.insert(place.host);
  return hosts.size();
}

void share_cpus(std::vector<RankPlace>& places) {
  std::vector<Cpus> cpus;
  cpus.reserve(places.size());
  for (const auto& place : places) cpus.push_back(cpus_of(place.cpus));
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].threads != 0) continue;
    std::size_t sharers = 0, quota_sharers = 0;
    for (std::size_t j = 0; j < places.size(); ++j) {
      if (machine_of(places[j]) == machine_of(places[i]) && overlap(cpus[i], cpus[j])) ++sharers;
      if (share_quota(places[i], places[j])) ++quota_sharers;
    }
    std::size_t threads = cpus[i].size() / std::max<std::size_t>(1, sharers);
    if (const double quota = places[i].quota.cpus / static_cast<double>(quota_sharers); quota_sharers > 0) {
      threads = std::min(threads, static_cast<std::size_t>(std::min(quota, 1e6)));
    }
    places[i].threads = std::max<std::size_t>(1, threads);
  }
}

std::string oversubscription(const std::vector<RankPlace>& places) {
  std::map<std::string, std::vector<std::size_t>> machines;
  for (std::size_t rank = 0; rank < places.size(); ++rank) machines[machine_of(places[rank])].push_back(rank);
  for (const auto& [machine, ranks] : machines) {
    const std::string& host = places[ranks.front()].host;
    // Those that have no CPU but the ones of some rank's set: with sets that are equal, nested or disjoint, that is
    // all.
    std::map<std::string, Cpus> sets;
    for (const std::size_t rank : ranks) sets.emplace(places[rank].cpus, cpus_of(places[rank].cpus));
    for (const auto& [name, set] : sets) {
      Sharers inside;
      for (const std::size_t rank : ranks) {
        const Cpus& own = sets.at(places[rank].cpus);
        if (std::includes(set.begin(), set.end(), own.begin(), own.end())) inside.add(rank, places[rank]);
      }
      if (inside.too_many()) return sentence_of(inside, host);
    }
    // Those that overlaps link.
    std::map<std::string, std::size_t> group;  // of a set
    for (const auto& [name, set] : sets) group.emplace(name, group.size());
    for (const auto& [a, cpus_a] : sets) {
      for (const auto& [b, cpus_b] : sets) {
        if (group[a] == group[b] || !overlap(cpus_a, cpus_b)) continue;
        const std::size_t from = group[b], to = group[a];
        for (auto& [name, number] : group) number = number == from ? to : number;
      }
    }
    std::map<std::size_t, Sharers> linked;
    for (const std::size_t rank : ranks) linked[group[places[rank].cpus]].add(rank, places[rank]);
    for (const auto& [number, sharers] : linked) {
      if (sharers.too_many()) return sentence_of(sharers, host);
    }
  }
  return "";
}

Placement settle_threads(const comm::Communicator& communicator, std::size_t threads, bool oversubscribe) {
  Placement placement;
  const std::string settled = comm::meet(
      communicator,
      [&] {
        RankPlace own{.host = "", .threads = threads, .cpus = allowed_cpu_list(), .quota = cpu_quota()};
        own.cpus_of_job = cpus_of_job();
        own.boot = boot_id();
        locate(own, "/sys/devices/system");
        return packed(own);
      },
      [&](std::span<const comm::Outcome> outcomes) {
        auto& places = placement.places;
        std::vector<std::string> names, boots;
        for (const comm::Outcome& outcome : outcomes) {
          if (outcome.failed()) outcome.fail(outcome.text);
          places.push_back(unpacked<RankPlace>(outcome.text));
          names.push_back(outcome.host);
          boots.push_back(places.back().boot);
        }
        names = comm::distinct_hosts(std::move(names), boots);
        for (std::size_t rank = 0; rank < places.size(); ++rank) places[rank].host = names[rank];
        share_cpus(places);
        if (const std::string refusal = oversubscribe ? "" : oversubscription(places); !refusal.empty())
          throw Error("{}; {}, or give --oversubscribe if this is intended", refusal, remedy());
        std::vector<std::size_t> all;
        for (const RankPlace& place : places) all.push_back(place.threads);
        return packed(all);
      });
  placement.threads = unpacked<std::vector<std::size_t>>(settled)[static_cast<std::size_t>(communicator.rank())];
  return placement;
}

std::string threads_beyond_cores(const std::vector<RankPlace>& places) {
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const std::size_t cores = cpus_of(places[rank].cores).size(), threads = places[rank].threads;
    if (cores == 0 || threads <= cores) continue;
    return fmt::format("rank {} on {} has {} on {}", rank, places[rank].host, counted(threads, "thread"),
                       counted(cores, "core"));
  }
  return "";
}

std::string threads_beyond_quota(const std::vector<RankPlace>& places) {
  for (const RankPlace& place : places) {
    std::size_t threads = 0, ranks = 0;
    for (const RankPlace& other : places) {
      if (!share_quota(place, other)) continue;
      threads += other.threads;
      ++ranks;
    }
    if (static_cast<double>(threads) <= place.quota.cpus || ranks == 0) continue;
    return fmt::format(
        "on {} the quota of CPU time is {:g} CPUs ({}) for {} ({}), so threads are stopped part of the time",
        place.host, place.quota.cpus, place.quota.file, counted(threads, "thread"), counted(ranks, "rank"));
  }
  return "";
}

std::string idle_cpus(const std::vector<RankPlace>& places) {
  // Of each host those that its ranks may use; and with the other hardware threads of their cores, which may be idle on
  // purpose.
  std::map<std::string, std::pair<Cpus, Cpus>> hosts;
  for (const RankPlace& place : places) {
    auto& [usable, used] = hosts[place.host];
    usable.merge(cpus_of(place.cpus));
    used.merge(cpus_of(place.core_cpus.empty() ? place.cpus : place.core_cpus));
  }
  for (const RankPlace& first : places) {
    const auto& [usable, used] = hosts[first.host];
    const double granted = first.quota ? std::ceil(first.quota.cpus) : 1e9;
    if (static_cast<double>(used.size()) >= std::min(granted, static_cast<double>(first.cpus_of_job))) continue;
    return fmt::format("{} has {} for this job, and its {} may use {}", first.host, counted(first.cpus_of_job, "CPU"),
                       counted(std::ranges::count(places, first.host, &RankPlace::host), "rank"), usable.size());
  }
  return "";
}

std::vector<std::string> slow_bindings(const std::vector<RankPlace>& places) {
  std::vector<std::string> sentences{threads_beyond_cores(places), threads_beyond_quota(places)};
  const auto wide = std::find_if(places.begin(), places.end(),
                                 [](const RankPlace& place) { return cpus_of(place.numa_domains).size() > 1; });
  if (wide != places.end()) {
    sentences.push_back(fmt::format("rank {} on {} has CPUs in the NUMA domains {}", wide - places.begin(), wide->host,
                                    wide->numa_domains));
  }
  std::erase(sentences, "");
  return sentences;
}

std::vector<std::string> describe(const std::vector<RankPlace>& places) {
  std::map<std::string, HostSummary> hosts;
  for (const auto& place : places) hosts[place.host].add(place);
  std::map<std::string, std::vector<std::string>> alike;  // hosts by what is said of them
  for (const auto& [name, summary] : hosts) alike[summary.text()].push_back(name);
  std::vector<std::string> lines;
  for (const auto& [text, names] : alike) {
    const std::string hosts_alike =
        names.size() > 1 ? fmt::format("each of {} hosts ({})", names.size(), listed(names)) : names.front();
    lines.push_back(fmt::format("[comm] {}: {}", hosts_alike, text));
  }
  std::vector<std::string> host_of_rank;
  for (const auto& place : places) host_of_rank.push_back(place.host);
  if (hosts.size() > 1 && hosts.size() < places.size() && comm::ranks_of_each_host(host_of_rank) == 1) {
    lines.push_back(
        "[comm] warning: gradients cross the network before they are summed within a host, because hosts have "
        "different numbers of ranks or their ranks do not follow one another; start as many ranks on each host, host "
        "by host (mpirun --map-by slot, srun --distribution=block)");
  }
  if (const std::string sentence = oversubscription(places); !sentence.empty()) {
    lines.push_back(fmt::format("[comm] warning: {}; {}", sentence, remedy()));
  }
  return lines;
}

}  // namespace rnnsearch::site
