#include "train/shard_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "rnnsearch/base/portable.h"

namespace rnnsearch::train {
namespace {

constexpr std::size_t kSize = 17'000;  // two blocks of the parallel loop

std::vector<float> gradient_of(std::uint64_t shard) {
  Random random(3, shard);
  std::vector<float> values(kSize);
  for (float& value : values) value = static_cast<float>(random.normal());
  values[0] = -0.0F;
  return values;
}

std::vector<float> sum_of(std::vector<std::vector<float>> level) {  // neighbours in pairs, level by level
  while (level.size() > 1) {
    std::vector<std::vector<float>> next;
    for (std::size_t i = 0; i < level.size(); i += 2) {
      next.push_back(level[i]);
      if (i + 1 == level.size()) continue;
      for (std::size_t k = 0; k < kSize; ++k) next.back()[k] = level[i][k] + level[i + 1][k];
    }
    level = next;
  }
  return level.front();
}

TEST(ShardSums, AreThoseOfTheNodesOfARankInAnyUpdateAndPart) {
  const auto same = [](std::span<const float> found, const std::vector<float>& expected, std::size_t first) {
    return std::memcmp(found.data(), expected.data() + first, found.size_bytes()) == 0;
  };
  for (const auto& [shards, ranks] : {std::pair{1, 1}, {2, 1}, {12, 1}, {12, 2}, {12, 3}, {12, 4}, {16, 2}, {7, 1}}) {
    for (int rank = 0; rank < ranks; ++rank) {
      SCOPED_TRACE(std::to_string(shards) + " shards, rank " + std::to_string(rank) + " of " + std::to_string(ranks));
      const ShardPlan plan(static_cast<std::uint64_t>(shards), rank, ranks);
      const comm::ShardTree tree(static_cast<std::uint64_t>(shards));
      const auto nodes = tree.nodes_of(plan.own());
      ShardSums sums;
      for (int update = 0; update < 2; ++update) {
        sums.begin(kSize);
        std::vector<float> gradient(kSize);
        for (std::size_t i = 0; i < plan.count(); ++i) {
          ASSERT_TRUE(std::all_of(gradient.begin(), gradient.end(), [](float g) { return g == 0; }));
          gradient = gradient_of(plan.own().first + i);
          if (i + 1 < plan.count()) sums.take(plan, i, gradient);
        }
        for (const auto& [first, size] : {std::pair{std::size_t{0}, kSize / 3}, {kSize / 3, kSize - kSize / 3}}) {
          const auto found = sums.finish(plan, first, std::span(gradient).subspan(first, size));
          ASSERT_EQ(found.size(), nodes.size());
          for (std::size_t n = 0; n < nodes.size(); ++n) {
            std::vector<std::vector<float>> of_node;
            for (std::uint64_t s = nodes[n].first; s < nodes[n].end; ++s) of_node.push_back(gradient_of(s));
            EXPECT_TRUE(same(found[n], sum_of(of_node), first)) << "node " << n;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace rnnsearch::train
