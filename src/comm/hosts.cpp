#include "rnnsearch/comm/hosts.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "rnnsearch/base/error.h"

namespace rnnsearch::comm {

std::vector<std::string> distinct_hosts(std::vector<std::string> names, const std::vector<std::string>& boots) {
  std::map<std::string, std::vector<std::string>> machines;  // by their name, in the order of their first ranks
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    auto& alike = machines[names[rank]];
    const auto at = std::find(alike.begin(), alike.end(), boots[rank]) - alike.begin();
    if (at == static_cast<std::ptrdiff_t>(alike.size())) alike.push_back(boots[rank]);
    if (at > 0) names[rank] += fmt::format("#{}", at + 1);
  }
  return names;
}

int ranks_of_each_host(const std::vector<std::string>& hosts) {
  std::size_t each = 1;
  while (each < hosts.size() && hosts[each] == hosts[0]) ++each;
  if (hosts.size() % each != 0) return 1;
  std::set<std::string> seen;
  for (std::size_t first = 0; first < hosts.size(); first += each) {
    const auto begin = hosts.begin() + static_cast<std::ptrdiff_t>(first);
    if (!seen.insert(*begin).second ||
        std::count(begin, begin + static_cast<std::ptrdiff_t>(each), *begin) != static_cast<std::ptrdiff_t>(each)) {
      return 1;
    }
  }
  return static_cast<int>(each);
}

}  // namespace rnnsearch::comm
