#include "rnnsearch/train/measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cassert>

namespace rnnsearch::train {
namespace {

using testing::HasSubstr;
using testing::Not;

Measured of_updates(std::size_t untimed, std::size_t timed) {
  Measured measured;
  measured.untimed = untimed;
  measured.timed = timed;
  measured.model.source_words = measured.model.target_words = 10;
  measured.places = {{"a", 2, "0-1"}, {"b", 2, "0-1"}};
  return measured;
}

Work work_of(std::size_t& calls) {
  return {[] {
            corpus::BatchSlice slice;
            slice.batch_pairs = 2;
            slice.batch_source_words = 6;
            slice.batch_target_words = 8;
            return slice;
          },
          false,
          [&calls](const corpus::BatchSlice& slice) {
            Timed timed;
            timed.seconds = static_cast<double>(++calls);
            timed.target_words = static_cast<double>(slice.batch_target_words);
            timed.part_seconds = {0.5, 1};
            return timed;
          }};
}

TEST(Measurement, LeavesOutWhatIsNotTimed) {
  std::size_t calls = 0;
  const auto m = measure(comm::Communicator(), of_updates(2, 3), work_of(calls));
  EXPECT_EQ(calls, 5U);
  EXPECT_EQ(m.seconds, (std::vector<double>{3, 4, 5}));
  EXPECT_EQ(m.pairs, 6);
  EXPECT_EQ(m.source_words, 18);
  EXPECT_EQ(m.target_words, 24);
  EXPECT_EQ(m.part_seconds, (std::vector<double>{1.5, 3}));
  EXPECT_GT(m.gflop, 0);
  EXPECT_FALSE(m.waiting);
}

TEST(Measurement, HasTheMiddleOfAnEvenNumberAsItsMedian) {
  Measurement m;
  m.seconds = {4, 1, 3, 2};
  EXPECT_EQ(m.median(), 2.5);
  EXPECT_EQ(m.mean(), 2.5);
  EXPECT_EQ(m.minimum(), 1);
  EXPECT_EQ(m.maximum(), 4);
  m.seconds = {9, 1, 3};
  EXPECT_EQ(m.median(), 3);
}

TEST(Measurement, NamesHostsAndEstimateInItsTable) {
  std::size_t calls = 0;
  Measured measured = of_updates(0, 2);
  const auto m = measure(comm::Communicator(), measured, work_of(calls));
  EXPECT_THAT(table_of(measured, m), HasSubstr("2 ranks of 1 thread each on 2 hosts"));
  EXPECT_THAT(table_of(measured, m), Not(HasSubstr("without validation")));
  EXPECT_EQ(json_of(measured, m).find("estimate"), nullptr);
  measured.updates_to_estimate = 1000;
  EXPECT_THAT(table_of(measured, m), HasSubstr("25m00s, without validation and checkpoints"));
  EXPECT_EQ(json_of(measured, m).at("estimate").at("seconds").number(), 1500);
}

TEST(Measurement, SaysWhetherAssertionsWereOn) {
  bool checks = false;
  assert((checks = true));
  std::size_t calls = 0;
  const Measured measured = of_updates(0, 1);
  const auto m = measure(comm::Communicator(), measured, work_of(calls));
  EXPECT_EQ(json_of(measured, m).at("assertions"), Json(checks));
  EXPECT_EQ(table_of(measured, m).find("assertions are on") != std::string::npos, checks);
}

}  // namespace
}  // namespace rnnsearch::train
