#include "rnnsearch/comm/placement.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/figures.h"
#include "rnnsearch/base/packed.h"
#include "rnnsearch/comm/meet.h"

namespace rnnsearch::comm {
namespace {

std::string allowed_cpu_list() {
  std::ifstream status("/proc/self/status");
  const std::string key = "Cpus_allowed_list:";
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(key)) continue;
    const auto begin = line.find_first_not_of(" \t", key.size());
    return begin == line.npos ? "" : line.substr(begin);
  }
  return "";
}

using Cpus = std::set<int>;

void add_cpus(const std::string& list, Cpus& cpus) {
  std::istringstream ranges(list);
  for (std::string range; std::getline(ranges, range, ',');) {
    std::istringstream numbers(range);
    int first = 0, last = 0;
    char dash = 0;
    if (!(numbers >> first)) continue;
    if (!(numbers >> dash >> last)) last = first;
    for (int cpu = first; cpu <= last; ++cpu) cpus.insert(cpu);
  }
}

Cpus cpus_of(const std::string& list) {
  Cpus cpus;
  add_cpus(list, cpus);
  return cpus;
}

bool overlap(const Cpus& a, const Cpus& b) {
  return std::any_of(a.begin(), a.end(), [&](int cpu) { return b.contains(cpu); });
}

/// Ranks of one host and what they share.
struct Sharers {
  std::vector<std::size_t> ranks;
  std::size_t threads = 0;
  Cpus cpus;

  void add(std::size_t rank, const RankPlace& place) {
    ranks.push_back(rank);
    threads += place.threads;
    add_cpus(place.cpus, cpus);
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
    list += text_of(list.empty() ? "" : ",", first);
    if (last > first) list += text_of('-', last);
  }
  return list;
}

std::string sentence_of(const Sharers& sharers, const std::string& host) {
  std::string ranks;
  for (std::size_t i = 0; i < sharers.ranks.size() && i < 8; ++i) {
    ranks += text_of(i == 0 ? "" : ", ", sharers.ranks[i]);
  }
  if (sharers.ranks.size() > 8) ranks += ", ...";
  return text_of("on ", host, " ", counted(sharers.threads, "thread"), " (", counted(sharers.ranks.size(), "rank"),
                 ": ", ranks, ") would share ", counted(sharers.cpus.size(), "CPU"), " (", list_of(sharers.cpus), ")");
}

constexpr const char* kRemedy =
    "give fewer --threads, start fewer ranks, or let the launcher bind the ranks to more cores (mpirun --bind-to none)";

}  // namespace

std::vector<std::size_t> cpus_by_host(const std::vector<RankPlace>& places) {
  std::vector<std::string> hosts;
  std::vector<Cpus> cpus;
  for (const auto& place : places) {
    const auto host = std::find(hosts.begin(), hosts.end(), place.host) - hosts.begin();
    if (static_cast<std::size_t>(host) == hosts.size()) {
      hosts.push_back(place.host);
      cpus.emplace_back();
    }
    add_cpus(place.cpus, cpus[static_cast<std::size_t>(host)]);
  }
  std::vector<std::size_t> counts;
  for (const auto& of_host : cpus) counts.push_back(of_host.size());
  return counts;
}

void share_cpus(std::vector<RankPlace>& places) {
  std::vector<Cpus> cpus;
  for (const auto& place : places) cpus.push_back(cpus_of(place.cpus));
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].threads != 0) continue;
    std::size_t sharers = 0;
    for (std::size_t j = 0; j < places.size(); ++j) {
      if (places[j].host == places[i].host && overlap(cpus[i], cpus[j])) ++sharers;
    }
    places[i].threads = std::max<std::size_t>(1, cpus[i].size() / std::max<std::size_t>(1, sharers));
  }
}

std::string oversubscription(const std::vector<RankPlace>& places) {
  std::map<std::string, std::vector<std::size_t>> hosts;
  for (std::size_t rank = 0; rank < places.size(); ++rank) hosts[places[rank].host].push_back(rank);
  for (const auto& [host, ranks] : hosts) {
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

Placement settle_threads(const Communicator& world, std::size_t threads, bool oversubscribe) {
  Placement placement;
  const std::string settled = meet(
      world,
      [&] {
        Packer packer;
        packer.add(threads);
        packer.add_text(allowed_cpu_list());
        return packer.take();
      },
      [&](std::span<const Outcome> outcomes) {
        auto& places = placement.places;
        for (const Outcome& outcome : outcomes) {
          Unpacker unpacker(outcome.text);
          const auto asked = unpacker.next<std::size_t>();
          places.push_back({outcome.host, asked, std::string(unpacker.next_text())});
        }
        share_cpus(places);
        if (const std::string refusal = oversubscribe ? "" : oversubscription(places); !refusal.empty()) {
          throw Error(text_of(refusal, "; ", kRemedy, ", or say --oversubscribe if that is meant"));
        }
        Packer packer;
        for (const RankPlace& place : places) packer.add(place.threads);
        return packer.take();
      });
  Unpacker unpacker(settled);
  for (int rank = 0; rank <= world.rank(); ++rank) placement.threads = unpacker.next<std::size_t>();
  return placement;
}

std::vector<std::string> describe(const std::vector<RankPlace>& places) {
  struct Host {
    std::size_t ranks = 0, threads = 0;
    std::string lists;
  };
  std::map<std::string, Host> hosts;
  for (const auto& place : places) {
    Host& host = hosts[place.host];
    ++host.ranks;
    host.threads += place.threads;
    if (host.ranks <= 8) host.lists += text_of(host.ranks > 1 ? " | " : "", place.cpus);
    if (host.ranks == 9) host.lists += " | ...";
  }
  std::vector<std::string> lines;
  for (const auto& [name, host] : hosts) {
    lines.push_back(text_of("[comm] ", name, ": ", counted(host.ranks, "rank"), ", ", counted(host.threads, "thread"),
                            ", CPUs ", host.lists));
  }
  if (const std::string sentence = oversubscription(places); !sentence.empty()) {
    lines.push_back(text_of("[comm] warning: ", sentence, "; ", kRemedy));
  }
  return lines;
}

}  // namespace rnnsearch::comm
