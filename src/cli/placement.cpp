#include "cli/placement.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "rnnsearch/base/error.h"

namespace rnnsearch::cli {
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

void add_cpus(const std::string& list, std::set<int>& cpus) {
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

}  // namespace

std::vector<RankPlace> places_of_ranks(const comm::Communicator& world, std::size_t threads) {
  const auto hosts = world.hosts();
  const auto lines = world.gather(text_of(threads, " ", allowed_cpu_list()));
  std::vector<RankPlace> places;
  for (std::size_t rank = 0; rank < lines.size(); ++rank) {
    std::istringstream fields(lines[rank]);
    RankPlace place;
    place.host = hosts[rank];
    fields >> place.threads >> place.cpus;
    places.push_back(place);
  }
  return places;
}

std::vector<std::string> describe(const std::vector<RankPlace>& places) {
  struct Host {
    std::size_t ranks = 0, threads = 0;
    std::set<int> cpus;
    std::string lists;
  };
  std::map<std::string, Host> hosts;
  for (const auto& place : places) {
    Host& host = hosts[place.host];
    ++host.ranks;
    host.threads += place.threads;
    add_cpus(place.cpus, host.cpus);
    if (host.ranks <= 8) host.lists += text_of(host.ranks > 1 ? " | " : "", place.cpus);
    if (host.ranks == 9) host.lists += " | ...";
  }
  std::vector<std::string> lines;
  for (const auto& [name, host] : hosts) {
    lines.push_back(text_of("[comm] ", name, ": ", host.ranks, host.ranks == 1 ? " rank, " : " ranks, ", host.threads,
                            host.threads == 1 ? " thread, CPUs " : " threads, CPUs ", host.lists));
    if (!host.cpus.empty() && host.threads > host.cpus.size()) {
      lines.push_back(text_of("[comm] warning: ", name, " runs ", host.threads, " threads on ", host.cpus.size(),
                              host.cpus.size() == 1 ? " CPU" : " CPUs",
                              "; give fewer --threads, or fewer ranks, or let mpirun bind them to more cores"));
    }
  }
  return lines;
}

}  // namespace rnnsearch::cli
