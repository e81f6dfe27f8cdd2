// Times updates, or translations, and shows the figures as a table or as JSON.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/base/json.h"
#include "rnnsearch/base/phases.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/corpus/batches.h"
#include "rnnsearch/kernels/machine_rates.h"
#include "rnnsearch/model/cost.h"
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
/// COLLECTIVE. Takes some three seconds, and 384 MiB for each rank. Every rank gets the same figures.
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
  Rate best() const;
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

  double total() const;
  double mean() const { return mean_of(total()); }
  double minimum() const;
  double maximum() const;
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

}  // namespace rnnsearch::site
