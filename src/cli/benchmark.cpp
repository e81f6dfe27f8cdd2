#include "cli/commands.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "cli/precision.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/training_options.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/figures.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/phases.h"
#include "rnnsearch/base/stopwatch.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/batches.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/corpus/synthetic_batches.h"
#include "rnnsearch/decode/translate.h"
#include "rnnsearch/kernels/instruction_set.h"
#include "rnnsearch/model/option_rules.h"
#include "rnnsearch/train/measurement.h"
#include "rnnsearch/train/optimizer.h"
#include "rnnsearch/train/schedule.h"
#include "rnnsearch/train/shared_files.h"
#include "rnnsearch/train/trainer.h"
#include "rnnsearch/train/update.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

struct Settings : TrainingSettings {
  std::size_t updates = 10, untimed_updates = 2;
  std::optional<std::uint64_t> estimate_updates;
  fs::path lengths, corpus;
  std::size_t source_length = 25, target_length = 25;
  bool decode = false, machine = true;
  decode::SearchOptions search;
  bool json = false;
  ThreadOptions threads;
  std::string precision;
};

void declare(Options& options, Settings& s) {
  options.group("Measurement");
  options.add("updates", s.updates, {.help = "number of updates that are timed", .low = 1, .high = 1e6});
  options.add("untimed-updates", s.untimed_updates,
              {.help = "number of updates before them, in which buffers are made", .low = 0, .high = 1e6});
  options.add("estimate-updates", s.estimate_updates,
              {.help = "print how long this number of updates would take [max-updates]", .low = 1});
  options.add("decode", s.decode,
              {.help = "time translation instead of training; every translation is --target-length words long, because "
                       "an untrained model does not end sentences"});
  options.add(
      "machine", s.machine,
      {.help = "afterwards measure what this machine attains at products, memory and all-reduces, which takes some "
               "three seconds and 384 MiB for each rank, and show how close each phase of an update comes to it",
       .recorded = false});
  options.add("beam", s.search.beam, {.help = "beam width for --decode; 1 is greedy search", .low = 1, .high = 1000});

  options.group("Sentences (random words)");
  options.add("source-length", s.source_length,
              {.help = "words in each source sentence, without </s>", .low = 1, .high = 1e5});
  options.add("target-length", s.target_length,
              {.help = "words in each target sentence, without </s>", .low = 1, .high = 1e5});
  options.add("lengths", s.lengths,
              {.help = "file with lengths of real pairs: 'SOURCE TARGET' on each line, in words without </s>; pools "
                       "are sorted by length as in training",
               .value = "FILE"});
  options.add("source-words", s.model.source_words,
              {.help = "size of the source vocabulary, including special symbols", .low = 4, .high = 1e8});
  options.add("target-words", s.model.target_words,
              {.help = "size of the target vocabulary, including special symbols", .low = 4, .high = 1e8});
  options.add("corpus", s.corpus,
              {.help = "take vocabularies and batches from this corpus instead of drawing them", .value = "FILE"});
  options.group("Output");
  options.add("json", s.json, {.help = "print JSON instead of a table", .recorded = false});
  add_training_options(options, s, {"resume"});
  options.group("Machine");
  add_threads(options, s.threads);
  add_precision(options, s.precision);
}

void check(const Options& options, const Settings& s) {
  const auto not_both = [&](const char* one, const char* other, const char* reason) {
    if (options.given(one) && options.given(other))
      throw UsageError(text_of("--", one, " and --", other, ": ", reason));
  };
  for (const char* length : {"source-length", "target-length"}) {
    not_both("lengths", length, "the file says all lengths; give one of the two");
    not_both("corpus", length, "the corpus says all lengths; give one of the two");
  }
  not_both("corpus", "lengths", "both say what is in a batch; give one of the two");
  if (s.train.batch_words > 0 && !options.given("corpus")) {
    throw UsageError("--batch-words needs --corpus: drawn batches are counted in sentences");
  }
  not_both("corpus", "source-words", "the corpus has its vocabularies; give one of the two");
  not_both("corpus", "target-words", "the corpus has its vocabularies; give one of the two");
  if (s.decode && options.given("estimate-updates")) {
    throw UsageError(
        "--estimate-updates and --decode: updates belong to training, not to translation; give one of the two");
  }
  if (!s.decode && options.given("beam")) throw UsageError("--beam applies to translation; give it with --decode");
  check_usage([&] { train::check(s.train); });
}

/// What an untrained model is given: batches as a training takes them from a corpus, or drawn ones.
class Batches {
 public:
  explicit Batches(std::vector<corpus::BatchSlice> drawn) : drawn_(std::move(drawn)) {}
  Batches(std::unique_ptr<const corpus::Corpus> corpus, const corpus::BatchOptions& options,
          const comm::Communicator& world, std::uint64_t run)
      : corpus_(std::move(corpus)), sequence_(std::in_place, *corpus_, options, world.rank(), world.size(), run) {
    sequence_->seek({});  // as before a training's first update
  }

  bool of_corpus() const { return sequence_.has_value(); }
  corpus::BatchSlice next() { return sequence_ ? sequence_->next() : std::move(drawn_[drawn_index_++]); }

 private:
  std::vector<corpus::BatchSlice> drawn_;
  std::size_t drawn_index_ = 0;
  std::unique_ptr<const corpus::Corpus> corpus_;
  std::optional<corpus::BatchSequence> sequence_;  // of `corpus_`
};

/// COLLECTIVE. May set the sizes of the vocabularies.
Batches batches_of(Settings& s, const comm::Communicator& world) {
  const std::uint64_t run = s.decode ? 1 : train::shards_of_rank(s.train, world.size());
  if (!s.corpus.empty()) {
    auto corpus = std::make_unique<const corpus::Corpus>(train::open_corpus(s.corpus, world));
    s.model.source_words = corpus->source_vocabulary().size();
    s.model.target_words = corpus->target_vocabulary().size();
    return {std::move(corpus), train::batch_options(s.train), world, run};
  }
  corpus::SyntheticOptions synthetic;
  synthetic.lengths = {{s.source_length, s.target_length}};
  if (!s.lengths.empty()) {  // the root reads it: the file need not be visible to the other ranks
    const std::string text = comm::at_root(world, [&] {
      std::string read = read_file(s.lengths);
      corpus::read_pair_lengths(read, s.lengths.string());
      return read;
    });
    synthetic.lengths = corpus::read_pair_lengths(text, s.lengths.string());
  }
  synthetic.source_words = s.model.source_words;
  synthetic.target_words = s.model.target_words;
  synthetic.batch_sentences = s.train.batch_sentences;
  synthetic.pool_batches = s.train.pool_batches;
  synthetic.seed = s.train.seed;
  return Batches(corpus::synthetic_batches(synthetic, s.untimed_updates + s.updates,
                                           static_cast<std::size_t>(world.rank()),
                                           static_cast<std::size_t>(world.size()), run));
}

/// Updates of an untrained model by the code that trains.
class Updates {
 public:
  Updates(const Settings& s, const comm::Communicator& world, model::Model<float>& model)
      : train_(s.train), step_(world, model, s.train) {}

  train::Timed run(const corpus::BatchSlice& slice) {
    const double rate = train::learning_rate(train_, {.update = ++update_});
    const Stopwatch watch;
    const auto result = step_.run(
        {slice.source, slice.target, slice.batch_pairs, rate, {}, {}, update_, slice.first_pair, slice.pair_stride});
    const double seconds = watch.seconds();
    if (!result.applied) {
      throw comm::AgreedError(text_of("the gradient of update ", update_,
                                      " is not finite, so updates cannot be timed; try a lower "
                                      "learning-rate or initial-deviation"));
    }
    return {seconds, static_cast<double>(slice.batch_target_words), result.phases, result.traffic, result.part_seconds};
  }

 private:
  const train::TrainOptions& train_;
  train::UpdateStep step_;
  std::uint64_t update_ = 0;
};

/// Translations by an untrained model, all of the length that the targets of a batch have in proportion to its sources.
class Translations {
 public:
  Translations(const Settings& s, const comm::Communicator& world, model::Model<float>& model)
      : search_(s.search), world_(world), model_(model) {
    search_.n_best = 1;
    search_.retry_below = 0;  // an untrained model ends nothing
  }

  train::Timed run(const corpus::BatchSlice& slice) {
    const double Tx = train::source_lengths(model_.options(), slice);
    // A little more, so that the product with Tx does not fall below a whole number.
    search_.maximum_length_ratio = (static_cast<double>(slice.batch_target_words) + 1e-6) / Tx;
    search_.minimum_length_ratio = search_.maximum_length_ratio;
    search_.batch_sentences = std::max<std::size_t>(slice.source.size(), 1);
    train::Timed timed;
    PhaseTimes& phases = model_.phases();
    phases.clear();
    const Stopwatch watch;
    const auto translations = decode::translate(model_, slice.source, search_);
    {
      const PhaseTimes::Scope scope(&phases, Phase::kCommunication);
      double sums[] = {0, 0};  // words, translations that are NaN
      for (const auto& best : translations) {
        sums[0] += static_cast<double>(best.front().words.size());
        sums[1] += best.front().is_nan() ? 1 : 0;
      }
      world_.all_reduce(std::span<double>(sums));  // waits for the slowest rank
      timed.target_words = sums[0];
      if (sums[1] > 0) {
        throw comm::AgreedError(
            "the untrained model computes NaN, so translation cannot be timed; try a lower "
            "initial-deviation");
      }
    }
    timed.seconds = watch.seconds();
    timed.phases = phases;
    return timed;
  }

 private:
  decode::SearchOptions search_;
  const comm::Communicator& world_;
  model::Model<float>& model_;
};

}  // namespace

int run_benchmark(const Arguments& arguments) {
  Settings s;
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
  train::Work work{[&] { return batches.next(); },
                   batches.of_corpus(),
                   {},
                   [&](std::size_t done, double seconds) {
                     progress.show(text_of("[benchmark] ", done, " of ", s.untimed_updates + s.updates, ": ",
                                           fixed(seconds, 3), " s"));
                   }};
  if (s.decode) {
    work.run = [timed = Translations(s, world, model)](const auto& batch) mutable { return timed.run(batch); };
  } else {
    work.run = [timed = std::make_shared<Updates>(s, world, model)](const auto& batch) { return timed->run(batch); };
  }
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
