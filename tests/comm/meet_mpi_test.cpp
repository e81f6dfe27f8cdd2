#include "rnnsearch/comm/meet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "rnnsearch/base/signals.h"
#include "tests/support/message_of.h"
#include "tests/support/mpi_main.h"
#include "tests/support/watchdog.h"

namespace rnnsearch::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const Communicator world;

std::string joined(std::span<const Outcome> outcomes) {
  std::string all;
  for (const Outcome& outcome : outcomes)
    all += outcome.failed() ? "failed: " + outcome.text + ";" : outcome.text + ";";
  return all;
}

TEST(Meeting, GivesEveryRankTheConclusionFromAllOutcomes) {
  const support::Watchdog watchdog(300, text_of("meeting, rank ", world.rank()));
  for (int round = 0; round < 3; ++round) {
    std::string expected;
    for (int rank = 0; rank < world.size(); ++rank) {
      expected += rank == 1 ? "failed: cannot;" : text_of(rank, " in ", round, ";");
    }
    const auto act = [&] {
      if (world.rank() == 1) throw Error("cannot");
      return text_of(world.rank(), " in ", round);
    };
    EXPECT_EQ(meet(world, act, joined), expected);
  }
}

TEST(Meeting, ThrowsOnAllRanksWhatTheConclusionThrows) {
  const support::Watchdog watchdog(300, text_of("throwing, rank ", world.rank()));
  const auto act = [] { return std::string(); };
  EXPECT_THROW(meet(world, act, [](std::span<const Outcome>) -> std::string { throw Stopped("enough"); }), Stopped);
  EXPECT_THROW(meet(world, act, [](std::span<const Outcome>) -> std::string { throw Error("no"); }), AgreedError);
  EXPECT_EQ(message_of([&] { meet(world, act, [](auto) -> std::string { throw std::bad_alloc(); }); }), kNoMemory);
  EXPECT_EQ(meet(world, act, [](std::span<const Outcome>) { return std::string("and on"); }), "and on");
}

TEST(Meeting, KeepsApartErrorsOfUsage) {
  const auto of_usage = [](const std::function<std::string()>& run) {
    try {
      agree(world, {"options", "", run});
    } catch (const AgreedError& error) {
      return error.of_usage();
    }
    return false;
  };
  EXPECT_TRUE(of_usage([]() -> std::string { throw UsageError("no such value"); }));
  EXPECT_TRUE(of_usage([]() -> std::string {  // whichever rank it is that was misused
    if (world.rank() + 1 == world.size()) throw UsageError("no such value");
    return "";
  }));
  EXPECT_FALSE(of_usage([]() -> std::string { throw Error("no such file"); }));
}

TEST(Agreement, NamesTheFirstRankThatFindsSomethingElse) {
  const support::Watchdog watchdog(300, text_of("agreeing, rank ", world.rank()));
  const std::string host = world.hosts().front();
  const auto refusal = [&](const std::function<std::string()>& run) {
    return message_of([&] { agree(world, {"corpus x", "give all the same", run}); });
  };
  EXPECT_EQ(refusal([] { return std::string("a"); }), "nothing was thrown");
  EXPECT_EQ(refusal([] { return text_of("the digest ", world.rank() > 0); }),
            text_of("corpus x: rank 1 on ", host, " has the digest 1, rank 0 on ", host,
                    " has the digest 0; give all the same"));
  EXPECT_EQ(refusal([]() -> std::string {
              if (world.rank() > 0) throw Error("cannot open x");
              return "the digest 0";
            }),
            text_of("cannot open x (rank 1 on ", host, "; rank 0 on ", host,
                    " has it, with the digest 0); give all the same"));
  EXPECT_EQ(refusal([]() -> std::string { throw Error(text_of("cannot open x on rank ", world.rank())); }),
            "cannot open x on rank 0");
}

TEST(Agreement, NamesTheFirstLineThatDiffersOnSomeRank) {
  const support::Watchdog watchdog(300, text_of("comparing lines, rank ", world.rank()));
  std::vector<std::string> lines{"beam = 2", "seed = 1", ""};
  EXPECT_NO_THROW(agree_on_lines(world, "options", "", [&] { return lines; }));
  const int last = world.size() - 1;
  if (world.rank() == last) lines[1] = "seed = 2";
  EXPECT_THAT(message_of([&] { agree_on_lines(world, "options", "", [&] { return lines; }); }),
              AllOf(StartsWith(text_of("options: rank ", last)), HasSubstr("has seed = 2"), HasSubstr("has seed = 1")));
  if (world.rank() == last) lines = {"beam = 2"};
  EXPECT_THAT(message_of([&] { agree_on_lines(world, "options", "", [&] { return lines; }); }), HasSubstr("has none"));
}

TEST(Root, ActsAloneAndEveryRankGetsItsText) {
  const support::Watchdog watchdog(300, text_of("asking the root, rank ", world.rank()));
  EXPECT_EQ(at_root(world, [] { return text_of("rank ", world.rank()); }), "rank 0");
  EXPECT_EQ(message_of([] { root_does(world, [] { throw Error(text_of("no file on ", world.rank())); }); }),
            "no file on 0");
}

TEST(Agreement, StopsAllRanksWhenASignalCameToOne) {
  const support::Watchdog watchdog(300, text_of("stopping, rank ", world.rank()));
  const StopSignals signals;
  if (world.rank() == world.size() - 1) std::raise(SIGUSR1);
  EXPECT_TRUE(stop_signal_came_anywhere(world));
  EXPECT_THROW(agree(world, {"", "", [] { return std::string("the same"); }}), Stopped);
  EXPECT_THROW(root_does(world, [] {}), Stopped);
}

}  // namespace
}  // namespace rnnsearch::comm
