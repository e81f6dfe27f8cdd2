#include "rnnsearch/site/measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cassert>
#include <nlohmann/json.hpp>

namespace rnnsearch::site {
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
            timed.flop = {.encoder = 1, .decoder = 2, .readout = 3};
            timed.part_seconds = {0.5, 1};
            return timed;
          }};
}

TEST(Latency, HasTheSmallestTimesThatSharesOfTheSentencesDoNotExceed) {
  Latency latency;
  for (int i = 100; i > 0; --i) latency.seconds.push_back(i);
  EXPECT_EQ(latency.percentile(0.5), 50);
  EXPECT_EQ(latency.percentile(0.99), 99);
  latency.seconds = {3, 1};
  EXPECT_EQ(latency.percentile(0.5), 1);
  EXPECT_EQ(latency.percentile(0.99), 3);
  latency.rates = {{1, 20}, {2, 30}, {4, 25}};
  EXPECT_EQ(latency.best().batch_sentences, 2U);
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
  EXPECT_EQ(m.flop.encoder, 3);
  EXPECT_EQ(m.flop.total(), 18);
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
  EXPECT_EQ(find_member(json_of(measured, m), "estimate"), nullptr);
  measured.updates_to_estimate = 1000;
  EXPECT_THAT(table_of(measured, m), HasSubstr("25m00s, without validation and checkpoints"));
  EXPECT_EQ(as_number(json_of(measured, m).at("estimate").at("seconds")), 1500);
}

// A machine of 100 GFLOP/s with operands from L1, 10 GB/s of memory and 1 GB/s between ranks.
Machine slow_machine() {
  Machine machine;
  machine.thread = {60e9, 50e9, 40e9, 30e9};
  machine.all = {120e9, 100e9, 80e9, 60e9};
  machine.memory = 10e9;
  machine.sum = 1e9;
  return machine;
}

// Two updates of 4 s each.
Measurement slow_updates() {
  Measurement m;
  m.seconds = {4, 4};
  m.pairs = m.source_words = m.target_words = 1;
  m.flop = {.encoder = 100e9, .decoder = 200e9, .readout = 100e9};
  m.phases[static_cast<std::size_t>(Phase::kEncoder)] = 2;
  m.phases[static_cast<std::size_t>(Phase::kAttention)] = 1;
  m.phases[static_cast<std::size_t>(Phase::kDecoder)] = 2;
  m.phases[static_cast<std::size_t>(Phase::kOptimizer)] = 1;
  m.phases[static_cast<std::size_t>(Phase::kCommunication)] = 0.5;
  m.bytes_sent = 1e9;
  m.reduction_seconds = 4;
  return m;
}

TEST(ShareOfBound, IsThatOfTheBoundThatAppliesToThePhase) {
  Measured measured = of_updates(0, 2);
  measured.machine = slow_machine();
  measured.optimizer_bytes = 2.5e9;
  const Measurement m = slow_updates();
  EXPECT_DOUBLE_EQ(share_of_bound(measured, m, Phase::kEncoder).value(), 0.5);
  EXPECT_DOUBLE_EQ(share_of_bound(measured, m, Phase::kDecoder).value(), 1);
  EXPECT_FALSE(share_of_bound(measured, m, Phase::kReadout)) << "it took no time";
  EXPECT_DOUBLE_EQ(share_of_bound(measured, m, Phase::kOptimizer).value(), 0.5) << "5 GB in a second";
  EXPECT_DOUBLE_EQ(share_of_bound(measured, m, Phase::kCommunication).value(), 0.25) << "of all reductions";
  EXPECT_FALSE(share_of_bound(measured, m, Phase::kAttention));
  EXPECT_DOUBLE_EQ(share_of_bound(measured, m).value(), 0.5) << "400 GFLOP in 8 s";
}

TEST(ShareOfBound, IsUnknownOfAMachineThatWasNotMeasured) {
  const Measured measured = of_updates(0, 2);
  EXPECT_FALSE(share_of_bound(measured, slow_updates(), Phase::kEncoder));
  EXPECT_FALSE(share_of_bound(measured, slow_updates()));
  EXPECT_EQ(find_member(json_of(measured, slow_updates()), "machine"), nullptr);
}

TEST(ShareOfBound, StandsInTableAndJson) {
  Measured measured = of_updates(0, 2);
  measured.machine = slow_machine();
  measured.optimizer_bytes = 2.5e9;
  const std::string table = table_of(measured, slow_updates());
  EXPECT_THAT(table, HasSubstr("50%: the products alone, with operands from the L1 cache, would take 2.0000 s"));
  EXPECT_THAT(table, HasSubstr("50% of products from L1"));
  EXPECT_THAT(table, HasSubstr("50% of memory's bandwidth"));
  EXPECT_THAT(table, HasSubstr("100 GFLOP/s with operands from L1, 80.0 from L2, 60.0 from L3, 120 without loads"));
  EXPECT_THAT(table, HasSubstr("memory 10.0 GB/s; in an all-reduce each rank sends 1.00 GB/s"));
  const Json json = json_of(measured, slow_updates());
  EXPECT_EQ(as_number(json.at("machine").at("gflop_per_second").at("level1")), 100);
  EXPECT_EQ(as_number(json.at("share_of_bound").at("update")), 0.5);
  EXPECT_EQ(as_number(json.at("share_of_bound").at("encoder")), 0.5);
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
}  // namespace rnnsearch::site
