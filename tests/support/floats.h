// Vectors of floats: random ones, their sums in the order in which gradients are summed, and their bytes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rnnsearch/base/portable.h"

namespace rnnsearch {

inline std::vector<float> normal_floats(Random& random, std::size_t count) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

/// The sum of these vectors, at least one: neighbours are added in pairs, level by level (shard_tree.h).
inline std::vector<float> sum_in_pairs(std::vector<std::vector<float>> level) {
  while (level.size() > 1) {
    std::vector<std::vector<float>> next;
    for (std::size_t i = 0; i < level.size(); i += 2) {
      next.push_back(level[i]);
      if (i + 1 == level.size()) continue;
      for (std::size_t k = 0; k < next.back().size(); ++k) next.back()[k] = level[i][k] + level[i + 1][k];
    }
    level = next;
  }
  return level.front();
}

inline std::string bytes_of(std::span<const float> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace rnnsearch
