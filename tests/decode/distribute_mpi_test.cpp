#include "rnnsearch/decode/translate_lines.h"

#include <csignal>

#include "rnnsearch/comm/meet.h"
#include "tests/support/mpi_main.h"
#include "tests/support/test.h"
#include "tests/support/watchdog.h"

namespace rnnsearch::decode {
namespace {

using support::communicator;

TEST(Assignment, CutsBatchesOfTheLongestItemsFirst) {
  const std::vector<std::size_t> lengths{2, 5, 2, 7, 5};
  EXPECT_THAT(by_length(lengths, 2), ElementsAre(ElementsAre(3, 1), ElementsAre(4, 0), ElementsAre(2)));
  EXPECT_THAT(by_length({}, 2), IsEmpty());
}

TEST(Assignment, GivesEveryRankTheItemsOfItsTurn) {
  EXPECT_THAT(round_robin(5, 3), ElementsAre(ElementsAre(0, 3), ElementsAre(1, 4), ElementsAre(2)));
  EXPECT_THAT(round_robin(2, 3), ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_THAT(round_robin(0, 3), IsEmpty());
}

TEST(Spread, GivesTheRootTheResultsInTheOrderOfItsItems) {
  const support::Watchdog watchdog(300, fmt::format("spreading, rank {}", communicator().rank()));
  std::vector<std::string> items;
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < 23 && communicator().is_root(); ++i) {
    items.push_back(std::string(i * 7 % 5, 'x') + std::to_string(i));
    lengths.push_back(items.back().size());
  }
  std::size_t computed = 0;
  const auto results = distribute<std::string, std::string>(communicator(), items, by_length(lengths, 3),
                                                            [&](const std::vector<const std::string*>& batch) {
                                                              EXPECT_LE(batch.size(), 3U);
                                                              computed += batch.size();
                                                              std::vector<std::optional<std::string>> found;
                                                              for (const std::string* item : batch)
                                                                found.push_back(*item + "!");
                                                              return found;
                                                            });
  ASSERT_THAT(results, SizeIs(items.size()));
  for (std::size_t i = 0; i < items.size(); ++i) EXPECT_EQ(results[i], items[i] + "!");
  EXPECT_GT(computed, 0U);
  double all = static_cast<double>(computed);
  communicator().all_reduce(std::span(&all, 1));
  EXPECT_EQ(all, 23);
}

TEST(Spread, LeavesOutWhatARankDidNotDoOnceASignalCame) {
  const support::Watchdog watchdog(300, fmt::format("stopping, rank {}", communicator().rank()));
  const StopSignals signals;
  const int last = communicator().size() - 1;
  std::vector<double> items;
  if (communicator().is_root()) items.assign(4 * static_cast<std::size_t>(communicator().size()), 1);
  Assignment assignment;  // one item each, in turn
  for (std::size_t i = 0; i < items.size(); ++i) assignment.push_back({i});
  const auto results =
      distribute<double, double>(communicator(), items, assignment, [&](const std::vector<const double*>& batch) {
        if (communicator().rank() == last) std::raise(SIGUSR1);
        return std::vector<std::optional<double>>{*batch.front() + 1};
      });
  EXPECT_TRUE(comm::stop_signal_came_anywhere(communicator()));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto turn = i / static_cast<std::size_t>(communicator().size());
    const bool left_out =
        i % static_cast<std::size_t>(communicator().size()) == static_cast<std::size_t>(last) && turn > 0;
    EXPECT_EQ(results[i].has_value(), !left_out) << i;
  }
}

}  // namespace
}  // namespace rnnsearch::decode

int main(int argc, char** argv) { return rnnsearch::support::run_mpi_tests(argc, argv); }
