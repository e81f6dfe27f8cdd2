// Which ranks share a machine, found from the names of their hosts.
#pragma once

#include <string>
#include <vector>

namespace rnnsearch::comm {

/// The number of ranks of a host, if the ranks of each host follow one another and every host has as many; otherwise 1.
/// hosts: of each rank, in rank order, at least one.
int ranks_of_each_host(const std::vector<std::string>& hosts);

/// The names, in which a host has a number if it has the name of another machine: "node", "node#2". names, boots: of
/// each rank.
std::vector<std::string> distinct_hosts(std::vector<std::string> names, const std::vector<std::string>& boots);

}  // namespace rnnsearch::comm
