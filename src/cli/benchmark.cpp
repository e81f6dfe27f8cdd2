#include "cli/commands.h"

#include <cstdlib>
#include <iostream>
#include <string>

#include "cli/benchmark_options.h"
#include "cli/benchmark_work.h"
#include "cli/precision.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/figures.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/kernels/instruction_set.h"
#include "rnnsearch/model/option_rules.h"
#include "rnnsearch/train/checkpoint.h"
#include "rnnsearch/train/measurement.h"
#include "rnnsearch/train/optimizer.h"
#include "rnnsearch/train/trainer.h"

namespace rnnsearch::cli {

int run_benchmark(const Arguments& arguments) {
  BenchmarkSettings s;
  s.model.source_words = s.model.target_words = 30000;
  s.train.resume = "never";
  Options options(
      "benchmark",
      "Times updates, or translation, of any configuration on this machine, with the code that trains, on an untrained "
      "model and random words; under mpirun on several ranks, as in training. It accepts every option of train, so a "
      "preset or the config.ini of a run can be given; options that do not affect an update are ignored.");
  declare(options, s);
  options.offer_presets();
  if (!options.parse(arguments)) return 0;
  check(options, s);
  train::Measured measured;
  measured.decode = s.decode;
  measured.untimed = s.untimed_updates;
  measured.timed = s.updates;
  if (!s.decode) measured.updates_to_estimate = s.estimate_updates.value_or(s.train.max_updates);
  measured.method = !s.decode            ? name_of(s.train.optimizer)
                    : s.search.beam == 1 ? "greedy"
                                         : text_of("beam ", s.search.beam);
  if (::getloadavg(measured.load.data(), static_cast<int>(measured.load.size())) < 0) measured.load = {};
  measured.instruction_set = kernels::instruction_set();
  measured.libraries = train::libraries();

  const comm::Communicator world;
  check_same_options(world, options);
  measured.places = settle_threads(s.threads, world);
  measured.threads = thread_count();
  s.precision = measured.precision = kernels::name_of(set_precision(s.precision, world));
  measured.precision_shown = precision_in_use();
  measured.bfloat16_unit = bfloat16_unit_in_use();
  if (!s.decode) comm::root_does(world, [&] { check_usage([&] { train::check_ranks(s.train, world.size()); }); });
  Batches batches = batches_of(s, world);
  comm::root_does(world, [&] { check_usage([&] { model::check(s.model); }); });
  measured.model = s.model;
  measured.configuration = options.values();
  model::Model<float> model(s.model);
  model.initialise(s.train.seed);
  measured.parameters = model.parameters().size();
  if (!s.decode) {
    measured.parts = {model.gradient_parts().begin(), model.gradient_parts().end()};
    std::size_t dense = 0, tables = 0;
    for (const auto& part : measured.parts) (part.table < 0 ? dense : tables) += part.size;
    measured.optimizer_bytes = train::optimizer_bytes(s.train, dense, tables) * static_cast<double>(world.size());
  }
  Progress progress(!world.is_root());
  const train::Work work{[&] { return batches.next(); }, batches.of_corpus(), work_of(s, world, model),
                         [&](std::size_t done, double seconds) {
                           progress.show(text_of("[benchmark] ", done, " of ", s.untimed_updates + s.updates, ": ",
                                                 fixed(seconds, 3), " s"));
                         }};
  const train::Measurement m = train::measure(world, measured, work);
  // Only now, because it takes memory, which is no part of the peak that was measured.
  if (s.machine) measured.machine = train::measure_machine(world);
  if (!world.is_root()) return 0;
  for (const auto& line : describe(measured.places)) {
    if (line.find("warning") != line.npos) std::cerr << line << "\n";
  }
  std::cout << (s.json ? train::json_of(measured, m).dump(2) + "\n" : train::table_of(measured, m));
  return 0;
}

}  // namespace rnnsearch::cli
