#include "comm/exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "rnnsearch/base/portable.h"
#include "tests/support/communicator.h"

namespace rnnsearch::comm {
namespace {

using support::communicator;

std::vector<float> values_of(int rank, std::size_t count, std::uint64_t seed = 5) {
  Random random(seed, static_cast<std::uint64_t>(rank));
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

void finish(Exchange& exchange) {
  while (!exchange.advance()) continue;
}

struct Shape {
  int ranks_of_host, widest;
};

class OnGrids : public testing::TestWithParam<Shape> {
 protected:
  /// Of this rank, with lines of hosts where the number of ranks allows.
  static Grid grid_of_test() {
    const int host = communicator().size() % GetParam().ranks_of_host == 0 ? GetParam().ranks_of_host : 1;
    return {communicator().rank(), communicator().size(), host, GetParam().widest};
  }
};

// Neighbours in pairs, level by level (shard_tree.h).
std::vector<float> sum_in_pairs(std::uint64_t first, std::uint64_t end, std::size_t count) {
  std::vector<std::vector<float>> level;
  for (std::uint64_t shard = first; shard < end; ++shard) {
    level.push_back(values_of(static_cast<int>(shard), count));
    if (count > 0 && shard % 2 == 0) level.back()[0] = -0.0F;
  }
  while (level.size() > 1) {
    std::vector<std::vector<float>> next;
    for (std::size_t i = 0; i < level.size(); i += 2) {
      next.push_back(level[i]);
      if (i + 1 == level.size()) continue;
      for (std::size_t k = 0; k < count; ++k) next.back()[k] = level[i][k] + level[i + 1][k];
    }
    level = next;
  }
  return level.front();
}

TEST_P(OnGrids, SumsRanksInAnOrderThatDoesNotDependOnTheGrid) {
  const Grid grid = grid_of_test();
  Exchange exchange;
  for (const std::size_t count : {0, 1, 15, 16, 17, 33, 1000, 100'003}) {
    auto values = values_of(communicator().rank(), count);
    if (count > 0 && communicator().rank() % 2 == 0) values[0] = -0.0F;
    exchange.begin(MPI_COMM_WORLD, grid, count, {values});
    finish(exchange);
    const auto expected = sum_in_pairs(0, static_cast<std::uint64_t>(communicator().size()), count);
    EXPECT_TRUE(count == 0 || std::memcmp(values.data(), expected.data(), count * sizeof(float)) == 0) << count;
  }
}

TEST_P(OnGrids, SumsShardsInAnOrderThatDoesNotDependOnTheRanks) {
  const Grid grid = grid_of_test();
  const auto ranks = static_cast<std::uint64_t>(communicator().size());
  Exchange exchange;
  std::uint64_t number = 0;
  for (const std::uint64_t each : {1, 2, 3, 5, 8}) {
    const ShardTree tree(each * ranks);
    const auto nodes = tree.nodes_of(tree.shards_of(static_cast<std::uint64_t>(communicator().rank()), 1, ranks));
    for (const std::size_t count : {0, 1, 17, 33, 1000, 100'003}) {
      std::vector<std::vector<float>> sums;
      for (const auto& [first, end] : nodes) sums.push_back(sum_in_pairs(first, end, count));
      Exchange::Block block{sums.back(), tree.shards(), {sums.begin(), sums.end() - 1}};
      exchange.begin(MPI_COMM_WORLD, grid, number++, block);
      finish(exchange);
      const auto expected = sum_in_pairs(0, tree.shards(), count);
      EXPECT_TRUE(count == 0 || std::memcmp(sums.back().data(), expected.data(), count * sizeof(float)) == 0)
          << each << " shards for each rank, " << count << " values";
    }
  }
}

TEST_P(OnGrids, SendsAsManyBytesForShardsAsForRanks) {
  const Grid grid = grid_of_test();
  std::vector<float> values(100'003);
  Exchange exchange;
  exchange.begin(MPI_COMM_WORLD, grid, 1, {values});
  finish(exchange);
  const std::uint64_t for_ranks = exchange.bytes_sent();
  exchange.begin(MPI_COMM_WORLD, grid, 2, {values, 4 * static_cast<std::uint64_t>(communicator().size()), {}});
  finish(exchange);
  EXPECT_EQ(exchange.bytes_sent(), for_ranks);
  // Ranks that have been added to one another are one node if they are a power of two, else a few.
  bool one_node = true;
  for (int dimension = 0; dimension < grid.dimensions(); ++dimension) {
    one_node = one_node && std::has_single_bit(static_cast<unsigned>(grid.stride(dimension)));
  }
  const double ranks = communicator().size(),
               least = 2 * (ranks - 1) / ranks * static_cast<double>(values.size() * sizeof(float));
  EXPECT_GE(static_cast<double>(for_ranks), 0.99 * least);
  EXPECT_LE(static_cast<double>(for_ranks), (one_node ? 1.01 : 1.5) * least);
}

TEST_P(OnGrids, OvertakesItself) {
  const Grid grid = grid_of_test();
  std::vector<float> one(5000, 1.0F), two(70, 2.0F), three(300'000, 3.0F);
  Exchange a, b, c;
  a.begin(MPI_COMM_WORLD, grid, 1, {one});
  b.begin(MPI_COMM_WORLD, grid, 2, {two});
  c.begin(MPI_COMM_WORLD, grid, 3, {three});
  // each rank looks at them in its own order
  for (int turn = communicator().rank(); !(a.done() && b.done() && c.done()); ++turn) {
    (turn % 3 == 0 ? a : turn % 3 == 1 ? b : c).advance();
  }
  const auto ranks = static_cast<float>(communicator().size());
  EXPECT_EQ(one, std::vector<float>(5000, ranks));
  EXPECT_EQ(two, std::vector<float>(70, 2 * ranks));
  EXPECT_EQ(three, std::vector<float>(300'000, 3 * ranks));
}

TEST_P(OnGrids, PassesNaNAndInfinityOn) {
  const Grid grid = grid_of_test();
  std::vector<float> values(40, 1.0F);
  if (communicator().is_root()) {
    values[3] = std::numeric_limits<float>::quiet_NaN();
    values[39] = std::numeric_limits<float>::infinity();
  }
  Exchange exchange;
  exchange.begin(MPI_COMM_WORLD, grid, 7, {values});
  finish(exchange);
  EXPECT_TRUE(std::isnan(values[3]));
  EXPECT_FALSE(std::isfinite(values[39]));
  EXPECT_EQ(values[4], static_cast<float>(communicator().size()));
}

// Widest 1: two dimensions of hosts where their number allows.
INSTANTIATE_TEST_SUITE_P(Shapes, OnGrids, testing::Values(Shape{1, 1}, Shape{1, 16}, Shape{2, 16}, Shape{2, 1}),
                         [](const auto& shape) {
                           return "RanksOfHost" + std::to_string(shape.param.ranks_of_host) + "Widest" +
                                  std::to_string(shape.param.widest);
                         });

}  // namespace
}  // namespace rnnsearch::comm
