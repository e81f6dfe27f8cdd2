#include "rnnsearch/comm/communicator.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>

#include "comm/chunks.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/random.h"
#include "rnnsearch/comm/shard_tree.h"
#include "tests/support/mpi_main.h"

namespace rnnsearch::comm {
namespace {

const Communicator world;

std::vector<float> values_of_this_rank(std::size_t count) {
  Random random(11, static_cast<std::uint64_t>(world.rank()));
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

TEST(Communicator, UnitesTheBitsOfAllRanks) {
  const Communicator all;
  std::vector<std::uint64_t> bits{std::uint64_t{1} << all.rank(), 0, std::uint64_t{1} << 63};
  all.wait(all.begin_or_reduce(bits));
  EXPECT_EQ(bits, (std::vector<std::uint64_t>{(std::uint64_t{1} << all.size()) - 1, 0, std::uint64_t{1} << 63}));
}

TEST(Sum, GivesEveryRankTheSameBits) {
  for (const std::size_t count : {1, 2, 3, 5, 1000, 4099, 300007}) {
    auto values = values_of_this_rank(count);
    world.all_reduce(values);
    const auto all = world.gather(bytes_of(values));
    for (const auto& one : all) EXPECT_TRUE(one == all.front()) << count << " elements";
  }
}

TEST(Sum, GivesTheSameBitsEveryTime) {
  for (const std::size_t count : {1, 7, 1000, 300007}) {
    std::string first;
    for (int repetition = 0; repetition < 10; ++repetition) {
      auto values = values_of_this_rank(count);
      world.all_reduce(values);
      if (repetition == 0) first = bytes_of(values);
      EXPECT_TRUE(bytes_of(values) == first) << count << " elements, repetition " << repetition;
    }
  }
}

TEST(Sum, AddsWhatAllRanksHave) {
  std::vector<double> values{static_cast<double>(world.rank()), 1.0};
  world.all_reduce(values);
  EXPECT_EQ(values[0], world.size() * (world.size() - 1) / 2.0);
  EXPECT_EQ(values[1], world.size());
  std::vector<double> largest{static_cast<double>(world.rank()), -static_cast<double>(world.rank())};
  world.max(largest);
  EXPECT_EQ(largest[0], world.size() - 1);
  EXPECT_EQ(largest[1], 0.0);
}

TEST(Sum, OfShardsIsThatOfTheirTreeInSeveralBlocksAtATime) {
  // 3 shards a rank: two nodes each. Values are whole numbers, so that every order gives the same sum.
  constexpr std::size_t kCount = (std::size_t{1} << 22) + 5;  // more than a block
  const auto ranks = static_cast<std::uint64_t>(world.size());
  const ShardTree tree(3 * ranks);
  const auto nodes = tree.nodes_of(tree.shards_of(static_cast<std::uint64_t>(world.rank()), 1, ranks));
  std::vector<std::vector<float>> sums;
  for (const auto& [first, end] : nodes) {
    std::vector<float>& values = sums.emplace_back(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      for (std::uint64_t shard = first; shard < end; ++shard) values[i] += static_cast<float>(shard * (i % 7));
    }
  }
  world.wait(world.begin_tree_reduce(tree.shards(), std::vector<std::span<float>>{sums.begin(), sums.end()}));
  const auto all = static_cast<float>(tree.shards() * (tree.shards() - 1) / 2);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kCount; ++i) wrong += sums.back()[i] == all * static_cast<float>(i % 7) ? 0 : 1;
  EXPECT_EQ(wrong, 0U);
}

TEST(Communicator, GathersNumbersInTheOrderOfRanksOnAll) {
  const auto rank = static_cast<double>(world.rank());
  const std::vector<double> all = world.all_gather(std::vector<double>{rank, -rank});
  ASSERT_EQ(all.size(), 2 * static_cast<std::size_t>(world.size()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i], (i % 2 == 0 ? 1 : -1) * static_cast<double>(i / 2));
  }
}

TEST(Sum, AddsDoublesInTheOrderOfRanks) {
  // Large numbers that cancel each other: any other order of additions gives other bits.
  const auto value_of = [](int rank) { return (rank % 2 == 0 ? 1 : -1) * 1e16 / (rank + 1) + 0.1 * rank; };
  std::vector<double> values{value_of(world.rank()), -value_of(world.rank())};
  world.all_reduce(values);
  double expected = value_of(0);
  for (int rank = 1; rank < world.size(); ++rank) expected += value_of(rank);
  EXPECT_EQ(values[0], expected);
  EXPECT_EQ(values[1], -expected);
}

TEST(Sum, GoesOnByItself) {
  std::vector<float> first(10, 1.0F), second(300007, 2.0F);
  std::vector<std::uint64_t> bits{std::uint64_t{1} << world.rank()};
  const auto a = world.begin_all_reduce(first), b = world.begin_or_reduce(bits), c = world.begin_all_reduce(second);
  world.wait(c);
  world.wait(b);
  world.wait(a);
  EXPECT_EQ(first, std::vector<float>(10, static_cast<float>(world.size())));
  EXPECT_EQ(second, std::vector<float>(300007, 2 * static_cast<float>(world.size())));
  EXPECT_EQ(bits.front(), (std::uint64_t{1} << world.size()) - 1);
}

TEST(Sum, HasTheSameBitsHoweverTheValuesAreCut) {
  auto whole = values_of_this_rank(4'400'003), pieces = whole;  // two blocks
  world.all_reduce(whole);
  Communicator::Ticket last = 0;
  for (std::size_t first = 0; first < pieces.size(); first += 1'700'003) {
    last = world.begin_all_reduce(
        std::span(pieces).subspan(first, std::min<std::size_t>(1'700'003, pieces.size() - first)));
  }
  world.wait(last);
  EXPECT_TRUE(whole == pieces);
}

TEST(Sum, CountsWhatItSends) {
  const Traffic before = world.traffic();
  std::vector<float> values(std::size_t{1} << 20, 1.0F);
  world.all_reduce(values);
  const Traffic after = world.traffic();
  const double bytes = static_cast<double>(after.bytes_sent - before.bytes_sent);
  const double ranks = world.size();
  EXPECT_NEAR(bytes / (2 * (ranks - 1) / ranks * 4 * static_cast<double>(values.size())), 1, 0.001);
  EXPECT_GT(after.busy_seconds, before.busy_seconds);
}

TEST(Sum, TakesNothing) {
  const Traffic before = world.traffic();
  world.all_reduce(std::span<float>());
  world.all_reduce(std::span<double>());
  world.wait(world.begin_all_reduce({}));
  EXPECT_EQ(world.traffic().bytes_sent, before.bytes_sent);
  std::vector<float> values{1.0F};
  world.all_reduce(values);
  EXPECT_EQ(values[0], static_cast<float>(world.size())) << "the next sum is not disturbed";
}

TEST(Broadcast, GivesEveryRankTheTextOfOne) {
  const int last = world.size() - 1;
  for (const std::string& sent : {std::string(), std::string("one"), std::string(100000, 'x'), std::string("\0a", 2)}) {
    std::string text = world.rank() == last ? sent : "something else";
    world.broadcast(text, last);
    EXPECT_EQ(text, sent);
  }
}

TEST(Broadcast, CutsWhatIsLongerThanAChunk) {
  std::string text = world.is_root() ? "a text of some length" : std::string(21, '?');
  broadcast_in_chunks(std::as_writable_bytes(std::span(text)), 0, 4);
  EXPECT_EQ(text, "a text of some length");
}

TEST(Broadcast, GivesEveryRankTheNumbersOfTheRoot) {
  std::vector<float> numbers(5, world.is_root() ? 2.5F : 0.0F);
  world.broadcast(numbers);
  EXPECT_EQ(numbers, std::vector<float>(5, 2.5F));
  std::vector<std::uint64_t> wide(3, world.is_root() ? ~0ULL : 0ULL);
  world.broadcast(wide);
  EXPECT_EQ(wide, std::vector<std::uint64_t>(3, ~0ULL));
}

TEST(Gather, GivesTheRootTheTextsInTheOrderOfRanks) {
  const auto text_of_rank = [](int rank) {
    return std::string(static_cast<std::size_t>(rank) * 7, 'a') + std::to_string(rank);
  };
  const auto expect_all = [&](const std::vector<std::string>& texts) {
    ASSERT_EQ(texts.size(), world.is_root() ? static_cast<std::size_t>(world.size()) : 0U);
    for (std::size_t rank = 0; rank < texts.size(); ++rank)
      EXPECT_EQ(texts[rank], text_of_rank(static_cast<int>(rank)));
  };
  expect_all(world.gather(text_of_rank(world.rank())));
  expect_all(gather_in_chunks(text_of_rank(world.rank()), 3));
}

TEST(Hosts, NamesTheMachineOfEveryRankAtEveryRank) {
  const auto hosts = world.hosts();
  ASSERT_EQ(hosts.size(), static_cast<std::size_t>(world.size()));
  for (const auto& host : hosts) EXPECT_FALSE(host.empty());
}

TEST(Checks, TurnAnErrorOfMpiIntoASentence) {
  std::string text = "x";
  try {
    broadcast_in_chunks(std::as_writable_bytes(std::span(text)), 999, 4);
    FAIL() << "no rank 999";
  } catch (const Error& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("MPI_Bcast failed on rank " + std::to_string(world.rank())), said.npos) << said;
    // Open MPI names the class of the error, MPICH describes it in several lines.
    EXPECT_TRUE(said.find("MPI_ERR_ROOT") != said.npos || said.find("Invalid root") != said.npos) << said;
    EXPECT_EQ(said.find('\n'), said.npos) << said;
  }
}

// For tests/comm/abort_test.sh: rank 1 fails while the others wait for it.
int fail_on_one_rank() {
  Environment environment;
  if (world.rank() == 1) {
    std::vector<float> values(std::size_t{1} << 22, 1.0F);
    world.begin_all_reduce(values);  // which the others never begin
    world.abandon();
    values = {};
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return 3;  // leaves without finish(), as an exception would
  }
  world.barrier();
  environment.finish();
  return 0;
}

}  // namespace
}  // namespace rnnsearch::comm

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--fail-on-one-rank") return rnnsearch::comm::fail_on_one_rank();
  return rnnsearch::support::run_mpi_tests(argc, argv);
}
