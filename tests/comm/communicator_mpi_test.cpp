#include "rnnsearch/comm/communicator.h"

#include <csignal>

#include "rnnsearch/base/signals.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/comm/shard_tree.h"
#include "tests/support/floats.h"
#include "tests/support/mpi_main.h"
#include "tests/support/test.h"
#include "tests/support/watchdog.h"

namespace rnnsearch::comm {
namespace {

using support::communicator;

std::vector<float> values_of_this_rank(std::size_t count) {
  Random random(11, static_cast<std::uint64_t>(communicator().rank()));
  return normal_floats(random, count);
}

TEST(Communicator, UnitesTheBitsOfAllRanks) {
  std::vector<std::uint64_t> bits{std::uint64_t{1} << communicator().rank(), 0, std::uint64_t{1} << 63};
  communicator().wait(communicator().begin_or_reduce(bits));
  EXPECT_EQ(bits,
            (std::vector<std::uint64_t>{(std::uint64_t{1} << communicator().size()) - 1, 0, std::uint64_t{1} << 63}));
}

TEST(Sum, GivesEveryRankTheSameBitsEveryTime) {
  for (const std::size_t count : {1, 2, 3, 5, 7, 1000, 4099, 300007}) {
    std::string first;
    for (int repetition = 0; repetition < 10; ++repetition) {
      auto values = values_of_this_rank(count);
      communicator().all_reduce(values);
      if (repetition == 0) first = bytes_of(values);
      EXPECT_TRUE(bytes_of(values) == first) << count << " elements, repetition " << repetition;
    }
    const auto all = communicator().gather(first);
    for (const auto& one : all) EXPECT_TRUE(one == all.front()) << count << " elements";
  }
}

TEST(Communicator, FindsTheLargestOfAllRanks) {
  std::vector<double> largest{static_cast<double>(communicator().rank()), -static_cast<double>(communicator().rank())};
  communicator().max(largest);
  EXPECT_EQ(largest[0], communicator().size() - 1);
  EXPECT_EQ(largest[1], 0.0);
}

TEST(Sum, OfShardsIsThatOfTheirTreeInSeveralBlocksAtATime) {
  // 3 shards a rank: two nodes each. Values are whole numbers, so that every order gives the same sum.
  constexpr std::size_t kCount = (std::size_t{1} << 22) + 5;  // more than a block
  const auto ranks = static_cast<std::uint64_t>(communicator().size());
  const ShardTree tree(3 * ranks);
  const auto nodes = tree.nodes_of(tree.shards_of(static_cast<std::uint64_t>(communicator().rank()), 1, ranks));
  std::vector<std::vector<float>> sums;
  for (const auto& [first, end] : nodes) {
    std::vector<float>& values = sums.emplace_back(kCount);
    for (std::size_t i = 0; i < kCount; ++i)
      for (std::uint64_t shard = first; shard < end; ++shard) values[i] += static_cast<float>(shard * (i % 7));
  }
  communicator().wait(
      communicator().begin_tree_reduce(tree.shards(), std::vector<std::span<float>>{sums.begin(), sums.end()}));
  const auto all = static_cast<float>(tree.shards() * (tree.shards() - 1) / 2);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kCount; ++i) wrong += sums.back()[i] == all * static_cast<float>(i % 7) ? 0 : 1;
  EXPECT_EQ(wrong, 0U);
}

TEST(Communicator, GathersNumbersInTheOrderOfRanksOnAll) {
  const auto rank = static_cast<double>(communicator().rank());
  const std::vector<double> all = communicator().all_gather(std::vector<double>{rank, -rank});
  ASSERT_EQ(all.size(), 2 * static_cast<std::size_t>(communicator().size()));
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], (i % 2 == 0 ? 1 : -1) * static_cast<double>(i / 2));
}

TEST(Sum, AddsDoublesInTheOrderOfRanks) {
  // Large numbers that cancel each other: any other order of additions gives other bits.
  const auto value_of = [](int rank) { return (rank % 2 == 0 ? 1 : -1) * 1e16 / (rank + 1) + 0.1 * rank; };
  std::vector<double> values{value_of(communicator().rank()), -value_of(communicator().rank())};
  communicator().all_reduce(values);
  double expected = value_of(0);
  for (int rank = 1; rank < communicator().size(); ++rank) expected += value_of(rank);
  EXPECT_EQ(values[0], expected);
  EXPECT_EQ(values[1], -expected);
}

TEST(Sum, GoesOnByItself) {
  std::vector<float> first(10, 1.0F), second(300007, 2.0F);
  std::vector<std::uint64_t> bits{std::uint64_t{1} << communicator().rank()};
  const auto a = communicator().begin_all_reduce(first), b = communicator().begin_or_reduce(bits),
             c = communicator().begin_all_reduce(second);
  communicator().wait(c);
  communicator().wait(b);
  communicator().wait(a);
  EXPECT_EQ(first, std::vector<float>(10, static_cast<float>(communicator().size())));
  EXPECT_EQ(second, std::vector<float>(300007, 2 * static_cast<float>(communicator().size())));
  EXPECT_EQ(bits.front(), (std::uint64_t{1} << communicator().size()) - 1);
}

TEST(Sum, HasTheSameBitsHoweverTheValuesAreCut) {
  auto whole = values_of_this_rank(4'400'003), pieces = whole;  // two blocks
  communicator().all_reduce(whole);
  Communicator::Ticket last = 0;
  for (std::size_t first = 0; first < pieces.size(); first += 1'700'003) {
    last = communicator().begin_all_reduce(
        std::span(pieces).subspan(first, std::min<std::size_t>(1'700'003, pieces.size() - first)));
  }
  communicator().wait(last);
  EXPECT_TRUE(whole == pieces);
}

TEST(Sum, CountsWhatItSends) {
  const Traffic before = communicator().traffic();
  std::vector<float> values(std::size_t{1} << 20, 1.0F);
  communicator().all_reduce(values);
  const Traffic after = communicator().traffic();
  const double bytes = static_cast<double>(after.bytes_sent - before.bytes_sent);
  const double ranks = communicator().size();
  EXPECT_NEAR(bytes / (2 * (ranks - 1) / ranks * 4 * static_cast<double>(values.size())), 1, 0.001);
  EXPECT_GT(after.busy_seconds, before.busy_seconds);
}

TEST(Sum, TakesNothing) {
  const Traffic before = communicator().traffic();
  communicator().all_reduce(std::span<float>());
  communicator().all_reduce(std::span<double>());
  communicator().wait(communicator().begin_all_reduce({}));
  EXPECT_EQ(communicator().traffic().bytes_sent, before.bytes_sent);
  std::vector<float> values{1.0F};
  communicator().all_reduce(values);
  EXPECT_EQ(values[0], static_cast<float>(communicator().size())) << "the next sum is not disturbed";
}

TEST(Broadcast, GivesEveryRankWhatOneHas) {
  const int last = communicator().size() - 1;
  for (const std::string& sent : {std::string(), std::string("one"), std::string(100000, 'x'), std::string("\0a", 2)}) {
    std::string text = communicator().rank() == last ? sent : "something else";
    communicator().broadcast(text, last);
    EXPECT_EQ(text, sent);
  }
  std::string text = communicator().is_root() ? "a text of some length" : std::string(21, '?');
  communicator().broadcast(std::as_writable_bytes(std::span(text)), 0, 4);  // in chunks
  EXPECT_EQ(text, "a text of some length");
  std::vector<float> numbers(5, communicator().is_root() ? 2.5F : 0.0F);
  communicator().broadcast(numbers);
  EXPECT_EQ(numbers, std::vector<float>(5, 2.5F));
  std::vector<std::uint64_t> wide(3, communicator().is_root() ? ~0ULL : 0ULL);
  communicator().broadcast(wide);
  EXPECT_EQ(wide, std::vector<std::uint64_t>(3, ~0ULL));
}

TEST(Gather, GivesTheRootTheTextsInTheOrderOfRanks) {
  const auto text_of_rank = [](int rank) {
    return std::string(static_cast<std::size_t>(rank) * 7, 'a') + std::to_string(rank);
  };
  const auto expect_all = [&](const std::vector<std::string>& texts) {
    ASSERT_EQ(texts.size(), communicator().is_root() ? static_cast<std::size_t>(communicator().size()) : 0U);
    for (std::size_t rank = 0; rank < texts.size(); ++rank)
      EXPECT_EQ(texts[rank], text_of_rank(static_cast<int>(rank)));
  };
  expect_all(communicator().gather(text_of_rank(communicator().rank())));
  expect_all(communicator().gather(text_of_rank(communicator().rank()), 3));
}

TEST(Hosts, NamesTheMachineOfEveryRankAtEveryRank) {
  const auto hosts = communicator().hosts();
  ASSERT_EQ(hosts.size(), static_cast<std::size_t>(communicator().size()));
  for (const auto& host : hosts) EXPECT_FALSE(host.empty());
}

TEST(Checks, TurnAnErrorOfMpiIntoASentence) {
  std::string text = "x";
  try {
    communicator().broadcast(std::as_writable_bytes(std::span(text)), 999);
    FAIL() << "no rank 999";
  } catch (const Error& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("MPI_Bcast failed on rank " + std::to_string(communicator().rank())), said.npos) << said;
    // Open MPI names the class of the error, MPICH describes it in several lines.
    EXPECT_TRUE(said.find("MPI_ERR_ROOT") != said.npos || said.find("Invalid root") != said.npos) << said;
    EXPECT_EQ(said.find('\n'), said.npos) << said;
  }
}

// For tests/comm/abort_test.sh: rank 1 fails while the others wait for it.
int fail_on_one_rank() {
  Environment environment;
  const Communicator& communicator = environment.communicator();
  if (communicator.rank() == 1) {
    std::vector<float> values(std::size_t{1} << 22, 1.0F);
    communicator.begin_all_reduce(values);  // which the others never begin
    communicator.abandon();
    values = {};
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return 3;  // leaves without finish(), as an exception would
  }
  communicator.barrier();
  environment.finish();
  return 0;
}

using support::communicator;

std::string joined(std::span<const Outcome> outcomes) {
  std::string all;
  for (const Outcome& outcome : outcomes)
    all += outcome.failed() ? "failed: " + outcome.text + ";" : outcome.text + ";";
  return all;
}

TEST(Meeting, GivesEveryRankTheConclusionFromAllOutcomes) {
  const support::Watchdog watchdog(300, fmt::format("meeting, rank {}", communicator().rank()));
  for (int round = 0; round < 3; ++round) {
    std::string expected;
    for (int rank = 0; rank < communicator().size(); ++rank) {
      expected += rank == 1 ? "failed: cannot;" : fmt::format("{} in {};", rank, round);
    }
    const auto act = [&] {
      if (communicator().rank() == 1) throw Error("cannot");
      return fmt::format("{} in {}", communicator().rank(), round);
    };
    EXPECT_EQ(meet(communicator(), act, joined), expected);
  }
}

TEST(Meeting, ThrowsOnAllRanksWhatTheConclusionThrows) {
  const support::Watchdog watchdog(300, fmt::format("throwing, rank {}", communicator().rank()));
  const auto act = [] { return std::string(); };
  EXPECT_THROW(meet(communicator(), act, [](std::span<const Outcome>) -> std::string { throw Stopped("enough"); }),
               Stopped);
  EXPECT_THROW(meet(communicator(), act, [](std::span<const Outcome>) -> std::string { throw Error("no"); }),
               AgreedError);
  EXPECT_EQ(message_of([&] { meet(communicator(), act, [](auto) -> std::string { throw std::bad_alloc(); }); }),
            kNoMemory);
  EXPECT_EQ(meet(communicator(), act, [](std::span<const Outcome>) { return std::string("and on"); }), "and on");
}

TEST(Meeting, KeepsApartErrorsOfUsage) {
  const auto of_usage = [](const std::function<std::string()>& run) {
    try {
      agree(communicator(), {"options", "", run});
    } catch (const AgreedError& error) {
      return error.of_usage();
    }
    return false;
  };
  EXPECT_TRUE(of_usage([]() -> std::string { throw UsageError("no such value"); }));
  EXPECT_TRUE(of_usage([]() -> std::string {  // whichever rank it is that was misused
    if (communicator().rank() + 1 == communicator().size()) throw UsageError("no such value");
    return "";
  }));
  EXPECT_FALSE(of_usage([]() -> std::string { throw Error("no such file"); }));
}

TEST(Agreement, NamesTheFirstRankThatFindsSomethingElse) {
  const support::Watchdog watchdog(300, fmt::format("agreeing, rank {}", communicator().rank()));
  const std::string host = communicator().hosts().front();
  const auto refusal = [&](const std::function<std::string()>& run) {
    return message_of([&] { agree(communicator(), {"corpus x", "give all the same", run}); });
  };
  EXPECT_EQ(refusal([] { return std::string("a"); }), "nothing was thrown");
  EXPECT_EQ(
      refusal([] { return fmt::format("the digest {:d}", communicator().rank() > 0); }),
      fmt::format("corpus x: rank 1 on {0} has the digest 1, rank 0 on {0} has the digest 0; give all the same", host));
  EXPECT_EQ(
      refusal([]() -> std::string {
        if (communicator().rank() > 0) throw Error("cannot open x");
        return "the digest 0";
      }),
      fmt::format("cannot open x (rank 1 on {0}; rank 0 on {0} has it, with the digest 0); give all the same", host));
  EXPECT_EQ(refusal([]() -> std::string { throw Error("cannot open x on rank {}", communicator().rank()); }),
            "cannot open x on rank 0");
}

TEST(Agreement, NamesTheFirstLineThatDiffersOnSomeRank) {
  const support::Watchdog watchdog(300, fmt::format("comparing lines, rank {}", communicator().rank()));
  std::vector<std::string> lines{"beam = 2", "seed = 1", ""};
  EXPECT_NO_THROW(agree_on_lines(communicator(), "options", "", [&] { return lines; }));
  const int last = communicator().size() - 1;
  if (communicator().rank() == last) lines[1] = "seed = 2";
  EXPECT_THAT(
      message_of([&] { agree_on_lines(communicator(), "options", "", [&] { return lines; }); }),
      AllOf(StartsWith(fmt::format("options: rank {}", last)), HasSubstr("has seed = 2"), HasSubstr("has seed = 1")));
  if (communicator().rank() == last) lines = {"beam = 2"};
  EXPECT_THAT(message_of([&] { agree_on_lines(communicator(), "options", "", [&] { return lines; }); }),
              HasSubstr("has none"));
}

TEST(Root, ActsAloneAndEveryRankGetsItsText) {
  const support::Watchdog watchdog(300, fmt::format("asking the root, rank {}", communicator().rank()));
  EXPECT_EQ(at_root(communicator(), [] { return fmt::format("rank {}", communicator().rank()); }), "rank 0");
  EXPECT_EQ(message_of([] { root_does(communicator(), [] { throw Error("no file on {}", communicator().rank()); }); }),
            "no file on 0");
}

TEST(Agreement, StopsAllRanksWhenASignalCameToOne) {
  const support::Watchdog watchdog(300, fmt::format("stopping, rank {}", communicator().rank()));
  const StopSignals signals;
  if (communicator().rank() == communicator().size() - 1) std::raise(SIGUSR1);
  EXPECT_TRUE(stop_signal_came_anywhere(communicator()));
  EXPECT_THROW(agree(communicator(), {"", "", [] { return std::string("the same"); }}), Stopped);
  EXPECT_THROW(root_does(communicator(), [] {}), Stopped);
}

}  // namespace
}  // namespace rnnsearch::comm

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--fail-on-one-rank") return rnnsearch::comm::fail_on_one_rank();
  return rnnsearch::support::run_mpi_tests(argc, argv);
}
