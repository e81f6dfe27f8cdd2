// Times updates, or translations, on one or several numbers of threads, and shows the figures as a table or as JSON.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/base/json.h"
#include "rnnsearch/base/stopwatch.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/corpus/batches.h"
#include "rnnsearch/kernels/machine_rates.h"
#include "rnnsearch/model/model.h"
#include "rnnsearch/site/placement.h"

namespace rnnsearch::site {

/// The work of one timed update or batch.
struct Timed {
  double seconds = 0;
  double target_words = 0;  // all ranks
  double loss = 0;          // of an update: nats, all ranks
  model::ProductFlop flop;  // all ranks
  PhaseTimes phases;
  comm::Traffic traffic{};
  std::vector<double> part_seconds{};  // of each part of the gradient, from the beginning until it was known
};

/// The measured rates of the processors and the network of all ranks, which are the bounds of the phases.
struct Machine {
  kernels::ProductRates thread;  // of one thread of the root alone
  kernels::ProductRates all;     // of all threads of all ranks at the same time
  double memory = 0;             // bytes a second between memory and all threads of all ranks
  double sum = 0;                // bytes a second that each rank sends in an all-reduce; 0: there is one rank
};
/// COLLECTIVE. Takes some three seconds, and at least 384 MiB for each rank. Every rank gets the same figures.
Machine measure_machine(const comm::Communicator& communicator);

/// The times of sentences that are translated one at a time, and the rates of the same sentences in larger batches.
struct Latency {
  std::vector<double> seconds;  // of each sentence alone, at least one
  struct Rate {
    std::size_t batch_sentences;
    double target_words;  // a second
  };
  std::vector<Rate> rates;  // at least one, by batch size

  /// The smallest time that a share of the sentences does not exceed: 0.5 for the median, 0.99 for the 99th percentile.
  double percentile(double share) const;
  /// The highest rate.
  Rate best() const { return std::ranges::max(rates, {}, &Rate::target_words); }
};

/// The figures that the root collected.
struct Measurement {
  std::vector<double> seconds;
  // of all timed batches, words without </s>
  double pairs = 0, source_words = 0, target_words = 0;
  model::ProductFlop flop;          // of all timed batches; 0: not known
  std::optional<double> waiting{};  // before all timed updates, for their sentences; none where these were drawn
  double peak_bytes = 0;            // of the rank that has most; 0: not known
  double loss = 0;                  // of the last update, in nats
  std::array<double, kPhases.size()> phases{};
  double bytes_sent = 0, reduction_seconds = 0;  // by the root in sums of gradients; hidden or not
  double visible_seconds = 0;                    // of communication, on the rank that came last and so waited for none
  std::vector<double> part_seconds{};            // sums over the timed updates

  double total() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }
  double mean() const { return mean_of(total()); }
  double minimum() const { return std::ranges::min(seconds); }
  double maximum() const { return std::ranges::max(seconds); }
  double median() const;
  double mean_of(double sum) const { return sum / static_cast<double>(seconds.size()); }
  double other() const;  // seconds of no phase
  double gflop() const { return flop.total() / 1e9; }
};

/// The figures of a measurement, with the machine and the configuration.
struct Measured {
  bool decode = false;  // batches translated, in place of updates
  std::size_t untimed = 0, timed = 0;
  std::uint64_t updates_to_estimate = 0;  // 0: none
  model::ModelOptions model;
  std::string method;                      // "adadelta", "beam 12"
  std::vector<model::GradientPart> parts;  // in the order in which backward finishes them
  std::size_t parameters = 0;
  std::size_t threads = 1;          // of each rank
  std::vector<RankPlace> places{};  // one a rank
  std::string instruction_set, libraries;
  std::string precision, arithmetic;  // "bf16", "bf16-amx"
  std::optional<Machine> machine{};
  std::optional<Latency> latency{};  // of the root
  double optimizer_bytes = 0;    // that an update moves between memory and the processors, on all ranks; 0: not known
  std::array<double, 3> load{};  // averages of 1, 5 and 15 minutes, before anything was computed
  std::vector<std::pair<std::string, std::string>> configuration{};
};

/// The share of its bound that a phase of the timed batches reaches: of the rate of products whose operands come from
/// the L1 cache, of the bandwidth of memory, or of that of an all-reduce. None if the machine was not measured, or if
/// no bound is known.
std::optional<double> share_of_bound(const Measured& measured, const Measurement& measurement, Phase phase);
/// The same for whole updates or translations, whose bound is that of their matrix products.
std::optional<double> share_of_bound(const Measured& measured, const Measurement& measurement);

/// The sum of Tx over a batch whose sources all have words.
double source_lengths(const model::ModelOptions& options, const corpus::BatchSlice& batch);

struct Work {
  std::function<corpus::BatchSlice()> next;
  bool waits = false;  // for sentences of a corpus: the time in `next` is measured, too
  std::function<Timed(const corpus::BatchSlice&)> run;
  std::function<void(std::size_t done, double seconds)> done{};  // called after each; may be empty
};
/// COLLECTIVE. Runs the work measured.untimed + measured.timed times. Throws what it throws.
Measurement measure(const comm::Communicator& communicator, const Measured& measured, const Work& work);

Json json_of(const Measured& measured, const Measurement& measurement);
/// Describes the configuration and the machine in three lines of text. `threads` are those of each rank: "2 threads".
std::string heading_of(const Measured& measured, const Measurement& measurement, const std::string& threads);
/// The figures as a text table, with that heading.
std::string table_of(const Measured& measured, const Measurement& measurement);

/// The same updates, or translations, on one number of threads of each rank.
struct OnThreads {
  Measured measured;
  Measurement measurement;
};

/// A point of the curve. Times are medians.
struct ThreadScaling {
  std::size_t threads = 1;        // of each rank
  double seconds = 0;             // an update
  double speed_up = 1;            // the time with the fewest threads divided by this time
  double efficiency = 1;          // speed_up divided by the number of threads relative to the fewest; 1 is linear
  std::optional<double> gain{};   // what the threads added to the point before gained, relative to linear; 1 is linear
  std::optional<double> share{};  // of the bound of this many threads (share_of_bound)
};

/// More threads pay as long as each step gains at least this part of what its threads would at linear scaling.
inline constexpr double kWorthwhileGain = 0.5;

/// One point for each of the runs. REQUIRES: at least one run, in ascending order of threads, none twice.
std::vector<ThreadScaling> scaling_of(const std::vector<OnThreads>& runs);
/// The largest number of threads up to which every step gained kWorthwhileGain. REQUIRES: at least one point.
std::size_t worthwhile_threads(const std::vector<ThreadScaling>& curve);
/// Where more threads stop paying, in a sentence. `unit`: "update" or "batch".
std::string conclusion_of(const std::vector<ThreadScaling>& curve, const std::string& unit);

/// The curve, its conclusion, and the whole record of each run. REQUIRES as scaling_of.
Json json_of(const std::vector<OnThreads>& runs);
/// The table, for people.
std::string table_of(const std::vector<OnThreads>& runs);

}  // namespace rnnsearch::site
