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
  const support::Watchdog watchdog(300, text_of("meeting, rank ", communicator().rank()));
  for (int round = 0; round < 3; ++round) {
    std::string expected;
    for (int rank = 0; rank < communicator().size(); ++rank) {
      expected += rank == 1 ? "failed: cannot;" : text_of(rank, " in ", round, ";");
    }
    const auto act = [&] {
      if (communicator().rank() == 1) throw Error("cannot");
      return text_of(communicator().rank(), " in ", round);
    };
    EXPECT_EQ(meet(communicator(), act, joined), expected);
  }
}

TEST(Meeting, ThrowsOnAllRanksWhatTheConclusionThrows) {
  const support::Watchdog watchdog(300, text_of("throwing, rank ", communicator().rank()));
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
  const support::Watchdog watchdog(300, text_of("agreeing, rank ", communicator().rank()));
  const std::string host = communicator().hosts().front();
  const auto refusal = [&](const std::function<std::string()>& run) {
    return message_of([&] { agree(communicator(), {"corpus x", "give all the same", run}); });
  };
  EXPECT_EQ(refusal([] { return std::string("a"); }), "nothing was thrown");
  EXPECT_EQ(refusal([] { return text_of("the digest ", communicator().rank() > 0); }),
            text_of("corpus x: rank 1 on ", host, " has the digest 1, rank 0 on ", host,
                    " has the digest 0; give all the same"));
  EXPECT_EQ(refusal([]() -> std::string {
              if (communicator().rank() > 0) throw Error("cannot open x");
              return "the digest 0";
            }),
            text_of("cannot open x (rank 1 on ", host, "; rank 0 on ", host,
                    " has it, with the digest 0); give all the same"));
  EXPECT_EQ(refusal([]() -> std::string { throw Error(text_of("cannot open x on rank ", communicator().rank())); }),
            "cannot open x on rank 0");
}

TEST(Agreement, NamesTheFirstLineThatDiffersOnSomeRank) {
  const support::Watchdog watchdog(300, text_of("comparing lines, rank ", communicator().rank()));
  std::vector<std::string> lines{"beam = 2", "seed = 1", ""};
  EXPECT_NO_THROW(agree_on_lines(communicator(), "options", "", [&] { return lines; }));
  const int last = communicator().size() - 1;
  if (communicator().rank() == last) lines[1] = "seed = 2";
  EXPECT_THAT(message_of([&] { agree_on_lines(communicator(), "options", "", [&] { return lines; }); }),
              AllOf(StartsWith(text_of("options: rank ", last)), HasSubstr("has seed = 2"), HasSubstr("has seed = 1")));
  if (communicator().rank() == last) lines = {"beam = 2"};
  EXPECT_THAT(message_of([&] { agree_on_lines(communicator(), "options", "", [&] { return lines; }); }),
              HasSubstr("has none"));
}

TEST(Root, ActsAloneAndEveryRankGetsItsText) {
  const support::Watchdog watchdog(300, text_of("asking the root, rank ", communicator().rank()));
  EXPECT_EQ(at_root(communicator(), [] { return text_of("rank ", communicator().rank()); }), "rank 0");
  EXPECT_EQ(
      message_of([] { root_does(communicator(), [] { throw Error(text_of("no file on ", communicator().rank())); }); }),
      "no file on 0");
}

TEST(Agreement, StopsAllRanksWhenASignalCameToOne) {
  const support::Watchdog watchdog(300, text_of("stopping, rank ", communicator().rank()));
  const StopSignals signals;
  if (communicator().rank() == communicator().size() - 1) std::raise(SIGUSR1);
  EXPECT_TRUE(stop_signal_came_anywhere(communicator()));
  EXPECT_THROW(agree(communicator(), {"", "", [] { return std::string("the same"); }}), Stopped);
  EXPECT_THROW(root_does(communicator(), [] {}), Stopped);
}

}  // namespace
}  // namespace rnnsearch::comm
