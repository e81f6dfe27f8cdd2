#include "comm/exchange.h"

#include <gtest/gtest.h>

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

// What the header promises: lines first, in the order of the ranks, then across them.
std::vector<float> sum_in_order(const Grid& grid, std::size_t count) {
  const int lines = grid.dimensions() == 2 ? grid.width(1) : 1;
  std::vector<float> sum;
  for (int line = 0; line < lines; ++line) {
    std::vector<float> of_line;
    for (int place = 0; place < grid.width(0); ++place) {
      const auto values = values_of(line * grid.width(0) + place, count);
      if (place == 0) of_line.assign(count, -0.0F);
      for (std::size_t i = 0; i < count; ++i) of_line[i] += values[i];
    }
    if (line == 0) sum.assign(count, -0.0F);
    for (std::size_t i = 0; i < count; ++i) sum[i] += of_line[i];
  }
  return sum;
}

class OnGrids : public testing::TestWithParam<int> {};

TEST_P(OnGrids, SumsInTheOrderOfTheRanks) {
  const Grid grid(world.rank(), world.size(), GetParam());
  Exchange exchange;
  for (const std::size_t count : {0, 1, 15, 16, 17, 33, 1000, 100'003}) {
    auto values = values_of(world.rank(), count);
    exchange.begin(MPI_COMM_WORLD, grid, count, {values});
    finish(exchange);
    const auto expected = sum_in_order(grid, count);
    EXPECT_TRUE(count == 0 || std::memcmp(values.data(), expected.data(), count * sizeof(float)) == 0) << count;
  }
}

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

TEST_P(OnGrids, SumsShardsInAnOrderThatDoesNotDependOnTheRanks) {
  const Grid grid(world.rank(), world.size(), GetParam());
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
  const Grid grid(world.rank(), world.size(), GetParam());
  std::vector<float> values(100'003);
  Exchange exchange;
  exchange.begin(MPI_COMM_WORLD, grid, 1, {values});
  finish(exchange);
  const std::uint64_t in_rank_order = exchange.bytes_sent();
  exchange.begin(MPI_COMM_WORLD, grid, 2, {values, {}, 4 * static_cast<std::uint64_t>(world.size()), {}});
  finish(exchange);
  // The shards of a line of ranks are one node where its length is a power of two, else a few.
  if (grid.dimensions() == 1 || std::has_single_bit(static_cast<unsigned>(grid.width(0)))) {
    EXPECT_EQ(exchange.bytes_sent(), in_rank_order);
  } else {
    EXPECT_GT(exchange.bytes_sent(), in_rank_order);
    EXPECT_LT(exchange.bytes_sent(), 2 * in_rank_order);
  }
}

TEST_P(OnGrids, OvertakesItself) {
  const Grid grid(world.rank(), world.size(), GetParam());
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
  const Grid grid(world.rank(), world.size(), GetParam());
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
  EXPECT_LE(bytes, 2.0 * 2 * kCount);
}

TEST_P(OnGrids, PassesNaNAndInfinityOn) {
  const Grid grid(world.rank(), world.size(), GetParam());
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

// 1: two dimensions where the number of ranks allows
INSTANTIATE_TEST_SUITE_P(Widest, OnGrids, testing::Values(1, 16));

}  // namespace
}  // namespace rnnsearch::comm
