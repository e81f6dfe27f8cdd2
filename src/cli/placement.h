// Which rank computes where.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rnnsearch/comm/communicator.h"

namespace rnnsearch::cli {

struct RankPlace {
  std::string host;
  std::size_t threads = 1;
  std::string cpus;  // that it may use, as Linux lists them: "0-3,8"
};

/// COLLECTIVE. At the root one a rank, nothing elsewhere.
std::vector<RankPlace> places_of_ranks(const comm::Communicator& world, std::size_t threads);

/// Lines for people: where the ranks are, and a warning for every host whose ranks have more threads than CPUs.
std::vector<std::string> describe(const std::vector<RankPlace>& places);

}  // namespace rnnsearch::cli
