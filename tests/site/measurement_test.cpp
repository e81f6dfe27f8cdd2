#include "rnnsearch/site/measurement.h"

#include <nlohmann/json.hpp>

#include "tests/support/test.h"

namespace rnnsearch::site {
namespace {

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

/// Updates that take this long on this many threads.
OnThreads on(std::size_t threads, double seconds) {
  OnThreads run;
  run.measured.threads = threads;
  run.measured.timed = 3;
  run.measured.model.source_words = run.measured.model.target_words = 10;
  run.measured.places = {{"a", threads, "0-15"}};
  run.measurement.seconds = {seconds, 10 * seconds, 0.1 * seconds};  // the median counts
  run.measurement.pairs = run.measurement.source_words = 1;
  run.measurement.target_words = 111 * seconds;
  run.measurement.loss = 7;
  return run;
}

TEST(ThreadScaling, RelatesEachTimeToThatOfTheFewestThreads) {
  const auto curve = scaling_of({on(2, 6), on(4, 4), on(12, 2)});
  ASSERT_EQ(curve.size(), 3U);
  EXPECT_EQ(curve[0].seconds, 6);
  EXPECT_EQ(curve[0].speed_up, 1);
  EXPECT_EQ(curve[0].efficiency, 1);
  EXPECT_FALSE(curve[0].gain);
  EXPECT_DOUBLE_EQ(curve[1].speed_up, 1.5);
  EXPECT_DOUBLE_EQ(curve[1].efficiency, 0.75) << "twice the threads";
  EXPECT_DOUBLE_EQ(curve[1].gain.value(), 0.5) << "half as fast again, of twice as fast";
  EXPECT_DOUBLE_EQ(curve[2].speed_up, 3);
  EXPECT_DOUBLE_EQ(curve[2].efficiency, 0.5) << "six times the threads";
  EXPECT_DOUBLE_EQ(curve[2].gain.value(), 0.5) << "twice as fast as on four threads, of three times";
}

TEST(ThreadScaling, PaysUpToTheFirstStepThatGainsLessThanHalf) {
  for (const auto& [runs, threads, said] : std::vector<std::tuple<std::vector<OnThreads>, std::size_t, std::string>>{
           {{on(1, 8), on(2, 4), on(4, 3)}, 2U, "with 4 an update is 1.33 times as fast as with 2, "},
           {{on(1, 8), on(2, 4), on(4, 2.5)}, 4U, "More threads pay up to 4, the most of these"},
           {{on(1, 8), on(2, 9), on(4, 2)}, 1U, "pay up to 1: with 2 an update is 0.89 times as fast as with 1, "},
           {{on(3, 8)}, 3U, "the most of these"},
           {{on(1, 8), on(2, 4), on(8, 3.2)},
            2U,
            "More threads pay up to 2: with 8 an update is 1.25 times as fast as with 2, where linear scaling would "
            "make it 4.00 times as fast; a step counts as paying if it gains at least 50% of what linear scaling "
            "would."}}) {
    EXPECT_EQ(worthwhile_threads(scaling_of(runs)), threads);
    EXPECT_THAT(conclusion_of(scaling_of(runs), "update"), HasSubstr(said));
  }
  EXPECT_THAT(conclusion_of(scaling_of({on(1, 8), on(2, 9)}), "batch"), HasSubstr("with 2 a batch is 0.89 times"));
}

TEST(ThreadScaling, StandsInTheTableWithTheShareOfEachBound) {
  std::vector<OnThreads> runs{on(1, 8), on(2, 5)};
  const std::string without = table_of(runs);
  EXPECT_THAT(without, HasSubstr("1 rank of 1, 2 threads; "));
  EXPECT_THAT(without, HasSubstr("      1              8.0000      1.00        100%              10\n"
                                 "      2              5.0000      1.60         80%              10\n"));
  EXPECT_THAT(without, HasSubstr("\nMore threads pay up to 2"));
  EXPECT_THAT(without, Not(HasSubstr("this machine")));
  for (OnThreads& run : runs) {
    run.measured.machine.emplace();
    run.measured.machine->all.level1 = 10e9 * static_cast<double>(run.measured.threads);
    run.measured.machine->memory = 5e9;
    run.measurement.flop.decoder = 5e9 * run.measurement.total();
  }
  const std::string table = table_of(runs);
  EXPECT_THAT(table, HasSubstr("   50% of 10.0 GFLOP/s; memory 5.0 GB/s\n"));
  EXPECT_THAT(table, HasSubstr("   25% of 20.0 GFLOP/s; memory 5.0 GB/s\n"));
}

TEST(ThreadScaling, StandsInJsonWithTheRecordOfEachRun) {
  std::vector<OnThreads> runs{on(1, 8), on(2, 5)};
  runs[1].measured.machine.emplace();
  runs[1].measured.machine->all.level1 = 20e9;
  runs[1].measurement.flop.decoder = 5e9 * runs[1].measurement.total();
  const Json json = json_of(runs);
  const auto& curve = as_array(json.at("thread_scaling"));
  ASSERT_EQ(curve.size(), 2U);
  EXPECT_EQ(find_member(curve[0], "gain_of_added_threads"), nullptr);
  EXPECT_EQ(find_member(curve[0], "share_of_bound"), nullptr) << "its machine was not measured";
  EXPECT_EQ(as_integer(curve[1].at("threads")), 2);
  EXPECT_EQ(as_number(curve[1].at("speed_up")), 1.6);
  EXPECT_EQ(as_number(curve[1].at("efficiency")), 0.8);
  EXPECT_DOUBLE_EQ(as_number(curve[1].at("gain_of_added_threads")), 0.6);
  EXPECT_DOUBLE_EQ(as_number(curve[1].at("share_of_bound")), 0.25);
  EXPECT_EQ(as_integer(json.at("worthwhile_threads")), 2);
  EXPECT_THAT(as_string(json.at("conclusion")), HasSubstr("pay up to 2"));
  ASSERT_EQ(as_array(json.at("runs")).size(), 2U);
  EXPECT_EQ(as_integer(as_array(json.at("runs"))[1].at("threads")), 2);
  EXPECT_EQ(as_number(as_array(json.at("runs"))[1].at("last_loss")), 7);
}

}  // namespace
}  // namespace rnnsearch::site
