#include "cli/commands.h"

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/benchmark_work.h"
#include "cli/options/benchmark_options.h"
#include "cli/options/json_output.h"
#include "cli/options/precision.h"
#include "cli/options/ranks.h"
#include "cli/progress.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/number_text.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/kernels/instruction_set.h"
#include "rnnsearch/model/options.h"
#include "rnnsearch/site/measurement.h"
#include "rnnsearch/train/checkpoint.h"
#include "rnnsearch/train/optimizer.h"
#include "rnnsearch/train/trainer.h"

namespace rnnsearch::cli {

namespace {

site::Measured described(const BenchmarkSettings& s) {
  site::Measured measured;
  measured.decode = s.decode;
  measured.untimed = s.untimed_updates;
  measured.timed = s.updates;
  if (!s.decode) measured.updates_to_estimate = s.estimate_updates.value_or(s.train.max_updates);
  measured.method = !s.decode            ? name_of(s.train.optimizer)
                    : s.search.beam == 1 ? "greedy"
                                         : fmt::format("beam {}", s.search.beam);
  if (s.shortlist_frequent + s.shortlist_translations > 0) {
    measured.method += fmt::format(", shortlists of {} words and {} for each source word", s.shortlist_frequent,
                                   s.shortlist_translations);
  }
  if (::getloadavg(measured.load.data(), static_cast<int>(measured.load.size())) < 0) measured.load = {};
  measured.instruction_set = kernels::instruction_set();
  measured.libraries = train::libraries();
  return measured;
}

// COLLECTIVE. 0: this rank's share of the CPUs.
std::vector<site::RankPlace> settle(std::uint64_t threads, BenchmarkSettings& s,
                                    const comm::Communicator& communicator) {
  s.threads.threads.reset();
  if (threads > 0) s.threads.threads = threads;
  return settle_threads(s.threads, communicator);
}

// COLLECTIVE. The numbers of threads to measure; 0: this rank's share of the CPUs. One number may be another one on
// each rank, but of several all ranks must have the same. The largest is settled, so that too many threads are refused
// before anything is timed.
std::vector<std::uint64_t> agreed_threads(BenchmarkSettings& s, const comm::Communicator& communicator) {
  const std::vector<std::uint64_t> counts = s.thread_counts.value_or(std::vector<std::uint64_t>{0});
  double most = static_cast<double>(counts.size());
  communicator.max(std::span(&most, 1));
  if (most > 1) {
    comm::agree_on_lines(communicator, "options", "give all ranks the same --threads",
                         [&] { return std::vector{fmt::format("threads = {}", value::write(counts))}; });
  }
  settle(counts.back(), s, communicator);
  return counts;
}

// COLLECTIVE. Times the batches with a model that is made anew on this number of threads (0: this rank's share of the
// CPUs), so that its memory lies where its threads touch it first.
site::OnThreads timed_on(std::uint64_t threads, site::Measured measured, Batches& batches, BenchmarkSettings& s,
                         const comm::Communicator& communicator, Progress& progress) {
  measured.places = settle(threads, s, communicator);
  measured.threads = thread_count();
  model::Model model(s.model);
  model.initialise(s.train.seed);
  measured.parameters = model.parameters().size();
  if (s.decode) {
    model.fix_parameters();
  } else {
    measured.parts = {model.gradient_parts().begin(), model.gradient_parts().end()};
    std::size_t dense = 0, tables = 0;
    for (const auto& part : measured.parts) (part.table < 0 ? dense : tables) += part.size;
    measured.optimizer_bytes =
        train::optimizer_bytes(s.train, dense, tables) * static_cast<double>(communicator.size());
  }
  const site::Work work{
      [&] { return batches.next(); }, batches.of_corpus(), work_of(s, communicator, model),
      [&](std::size_t done, double seconds) {
        progress.show(fmt::format("[benchmark] {} of {} on {}: {:.3f} s", done, s.untimed_updates + s.updates,
                                  counted(measured.threads, "thread"), seconds));
      }};
  const site::Measurement m = site::measure(communicator, measured, work);
  if (s.latency_sentences > 0) measured.latency = latency_of(s, batches, model);
  // Only now, because it takes memory, which is no part of the peak that was measured.
  if (s.machine) measured.machine = site::measure_machine(communicator);
  return {std::move(measured), m};
}

int work(const Options& options, BenchmarkSettings& s, const comm::Communicator& communicator) {
  site::Measured measured = described(s);

  const auto counts = agreed_threads(s, communicator);
  s.precision = measured.precision = kernels::name_of(set_precision(s.precision, communicator));
  measured.arithmetic = kernels::arithmetic();
  if (!s.decode)
    comm::root_does(communicator, [&] { check_usage([&] { train::check_ranks(s.train, communicator.size()); }); });
  Batches batches = batches_of(s, communicator);
  comm::root_does(communicator, [&] { check_usage([&] { model::check(s.model); }); });
  s.search.shortlist = shortlist_of(s);
  measured.model = s.model;
  measured.configuration = options.values();
  Progress progress(!communicator.is_root());
  std::vector<site::OnThreads> runs;
  for (const std::uint64_t threads : counts) {
    if (!runs.empty()) batches.rewind();
    runs.push_back(timed_on(threads, measured, batches, s, communicator, progress));
    auto& measurement = runs.back().measurement;
    // The peak includes what the machine was measured with before.
    if (runs.size() > 1) measurement.peak_bytes = 0;
    const double first = runs.front().measurement.loss;
    if (measurement.loss != first) {
      throw comm::AgreedError(
          fmt::format("on {} threads the last update has loss {:g}, on {} {:g}, although threads must not change it; "
                      "this is a bug in rnnsearch: please report it with this command line",
                      threads, measurement.loss, counts.front(), first));
    }
  }
  if (!communicator.is_root()) return 0;
  for (const auto& line : describe(runs.back().measured.places)) {
    if (line.find("warning") != line.npos) std::cerr << line << "\n";
  }
  const site::OnThreads& first = runs.front();
  const bool one = runs.size() == 1;
  print_results(
      s.json, [&] { return one ? site::json_of(first.measured, first.measurement) : site::json_of(runs); },
      [&] { std::cout << (one ? site::table_of(first.measured, first.measurement) : site::table_of(runs)); });
  return 0;
}

}  // namespace

std::unique_ptr<Invocation> make_benchmark() {
  return std::make_unique<InvocationOf<BenchmarkSettings>>(
      "benchmark",
      "Times training updates, or translation, with any configuration on this machine. It runs the code of train on "
      "an untrained model and random words; under mpirun it runs on several ranks, as a training does. It accepts "
      "every option of train, and therefore presets and the config.ini of a run; options that do not affect an "
      "update are ignored.",
      "--preset rnnsearch-50 --threads 1,2,4", Steps<BenchmarkSettings>{declare, check, work});
}

}  // namespace rnnsearch::cli
