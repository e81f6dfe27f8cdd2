#include "comm/exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "rnnsearch/base/random.h"
#include "rnnsearch/comm/communicator.h"

namespace rnnsearch::comm {
namespace {

const Communicator world;

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
    const int host = world.size() % GetParam().ranks_of_host == 0 ? GetParam().ranks_of_host : 1;
    return {world.rank(), world.size(), host, GetParam().widest};
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
    auto values = values_of(world.rank(), count);
    if (count > 0 && world.rank() % 2 == 0) values[0] = -0.0F;
    exchange.begin(MPI_COMM_WORLD, grid, count, {values});
    finish(exchange);
    const auto expected = sum_in_pairs(0, static_cast<std::uint64_t>(world.size()), count);
    EXPECT_TRUE(count == 0 || std::memcmp(values.data(), expected.data(), count * sizeof(float)) == 0) << count;
  }
}

TEST_P(OnGrids, SumsShardsInAnOrderThatDoesNotDependOnTheRanks) {
  const Grid grid = grid_of_test();
  const auto ranks = static_cast<std::uint64_t>(world.size());
  Exchange exchange;
  std::uint64_t number = 0;
  for (const std::uint64_t each : {1, 2, 3, 5, 8}) {
    const ShardTree tree(each * ranks);
    const auto nodes = tree.nodes_of(tree.shards_of(static_cast<std::uint64_t>(world.rank()), 1, ranks));
    for (const std::size_t count : {0, 1, 17, 33, 1000, 100'003}) {
      std::vector<std::vector<float>> sums;
      for (const auto& [first, end] : nodes) sums.push_back(sum_in_pairs(first, end, count));
      Exchange::Block block{sums.back(), {}, tree.shards(), {sums.begin(), sums.end() - 1}};
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
  exchange.begin(MPI_COMM_WORLD, grid, 2, {values, {}, 4 * static_cast<std::uint64_t>(world.size()), {}});
  finish(exchange);
  EXPECT_EQ(exchange.bytes_sent(), for_ranks);
  // Ranks that have been added to one another are one node if they are a power of two, else a few.
  bool one_node = true;
  for (int dimension = 0; dimension < grid.dimensions(); ++dimension) {
    one_node = one_node && std::has_single_bit(static_cast<unsigned>(grid.stride(dimension)));
  }
  const double ranks = world.size(),
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
  for (int turn = world.rank(); !(a.done() && b.done() && c.done()); ++turn) {
    (turn % 3 == 0 ? a : turn % 3 == 1 ? b : c).advance();
  }
  const auto ranks = static_cast<float>(world.size());
  EXPECT_EQ(one, std::vector<float>(5000, ranks));
  EXPECT_EQ(two, std::vector<float>(70, 2 * ranks));
  EXPECT_EQ(three, std::vector<float>(300'000, 3 * ranks));
}

TEST_P(OnGrids, CarriesWhatRoundingToBfloat16TookAway) {
  const Grid grid = grid_of_test();
  constexpr std::size_t kCount = 4099;
  constexpr int kTimes = 50;
  std::vector<float> residual(kCount);
  std::vector<double> summed(kCount), exact(kCount), largest(kCount);
  Exchange exchange;
  double worst_once = 0;
  for (int time = 0; time < kTimes; ++time) {
    auto values = values_of(world.rank(), kCount, static_cast<std::uint64_t>(time));
    std::vector<double> truth(kCount);
    for (int rank = 0; rank < world.size(); ++rank) {
      const auto theirs = values_of(rank, kCount, static_cast<std::uint64_t>(time));
      for (std::size_t i = 0; i < kCount; ++i) truth[i] += static_cast<double>(theirs[i]);
    }
    exchange.begin(MPI_COMM_WORLD, grid, static_cast<std::uint64_t>(time), {values, residual});
    finish(exchange);
    std::string bytes(reinterpret_cast<const char*>(values.data()), kCount * sizeof(float)), of_root = bytes;
    world.broadcast(of_root);
    EXPECT_TRUE(bytes == of_root) << "the ranks differ";
    for (std::size_t i = 0; i < kCount; ++i) {
      summed[i] += static_cast<double>(values[i]);
      exact[i] += truth[i];
      worst_once = std::max(worst_once, std::abs(static_cast<double>(values[i]) - truth[i]));
    }
  }
  // Each of n + 1 roundings of values below 2^4 errs by at most 2^-5, and what it errs comes back.
  double worst = 0;
  for (std::size_t i = 0; i < kCount; ++i) worst = std::max(worst, std::abs(summed[i] - exact[i]));
  EXPECT_LE(worst, (world.size() + 2) * std::ldexp(1, -5));
  EXPECT_GT(worst_once, 1e-3) << "nothing was rounded, so this shows nothing";
  const double bytes = static_cast<double>(exchange.bytes_sent());
  EXPECT_LE(bytes, (grid.dimensions() > 0 && grid.within_host(0) ? 4.0 : 2.0) * 2 * kCount);
}

// As the rows of the embeddings do, whose words differ from update to update. Two sums of zeros at the end send what
// is left.
TEST_P(OnGrids, CarriesItToTheNextSumWhereverTheValuesAre) {
  const Grid grid = grid_of_test();
  constexpr std::size_t kCount = 4099, kMove = 517, kTimes = 20;
  std::vector<float> residual(kCount);
  std::vector<double> summed(kCount), exact(kCount);  // of each value, wherever it is
  Exchange exchange;
  for (std::size_t time = 0; time < kTimes + 2; ++time) {
    const auto place = [&](std::size_t i) { return (i + time * kMove) % kCount; };
    std::vector<float> values(kCount);
    for (int rank = 0; time < kTimes && rank < world.size(); ++rank) {
      const auto theirs = values_of(rank, kCount, time);
      for (std::size_t i = 0; i < kCount; ++i) exact[i] += static_cast<double>(theirs[i]);
      for (std::size_t i = 0; rank == world.rank() && i < kCount; ++i) values[place(i)] = theirs[i];
    }
    if (time > 0) std::rotate(residual.begin(), residual.end() - kMove, residual.end());
    exchange.begin(MPI_COMM_WORLD, grid, time, {values, residual});
    finish(exchange);
    for (std::size_t i = 0; i < kCount; ++i) summed[i] += static_cast<double>(values[place(i)]);
  }
  double worst = 0;
  for (std::size_t i = 0; i < kCount; ++i) worst = std::max(worst, std::abs(summed[i] - exact[i]));
  EXPECT_LE(worst, 1e-4);  // one rounding of a value is up to 2^-5
}

TEST_P(OnGrids, PassesNaNAndInfinityOn) {
  const Grid grid = grid_of_test();
  for (const bool rounds : {false, true}) {
    std::vector<float> values(40, 1.0F), residual(rounds ? 40 : 0);
    if (world.is_root()) {
      values[3] = std::numeric_limits<float>::quiet_NaN();
      values[39] = std::numeric_limits<float>::infinity();
    }
    Exchange exchange;
    exchange.begin(MPI_COMM_WORLD, grid, 7, {values, residual});
    finish(exchange);
    EXPECT_TRUE(std::isnan(values[3]));
    EXPECT_FALSE(std::isfinite(values[39]));
    EXPECT_EQ(values[4], static_cast<float>(world.size()));
  }
}

// Widest 1: two dimensions of hosts where their number allows.
INSTANTIATE_TEST_SUITE_P(Shapes, OnGrids, testing::Values(Shape{1, 1}, Shape{1, 16}, Shape{2, 16}, Shape{2, 1}),
                         [](const auto& shape) {
                           return "RanksOfHost" + std::to_string(shape.param.ranks_of_host) + "Widest" +
                                  std::to_string(shape.param.widest);
                         });

}  // namespace
}  // namespace rnnsearch::comm
