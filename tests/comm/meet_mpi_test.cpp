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
