#include "cli/benchmark.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "cli/precision.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/shared_files.h"
#include "cli/synthetic_batches.h"
#include "cli/training_options.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/figures.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/phases.h"
#include "rnnsearch/base/stopwatch.h"
#include "rnnsearch/base/version.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/batches.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/decode/translate.h"
#include "rnnsearch/kernels/instruction_set.h"
#include "rnnsearch/kernels/parallel.h"
#include "rnnsearch/model/cost.h"
#include "rnnsearch/storage/hdf5.h"
#include "rnnsearch/train/schedule.h"
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
  bool decode = false;
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
    if (options.given(one) && options.given(other)) throw Error(text_of("--", one, " and --", other, ": ", reason));
  };
  for (const char* length : {"source-length", "target-length"}) {
    not_both("lengths", length, "the file says all lengths; give one of the two");
    not_both("corpus", length, "the corpus says all lengths; give one of the two");
  }
  not_both("corpus", "lengths", "both say what is in a batch; give one of the two");
  not_both("corpus", "source-words", "the corpus has its vocabularies; give one of the two");
  not_both("corpus", "target-words", "the corpus has its vocabularies; give one of the two");
  if (s.decode && options.given("estimate-updates")) {
    throw Error("--estimate-updates and --decode: updates belong to training, not to translation; give one of the two");
  }
  if (!s.decode && options.given("beam")) throw Error("--beam applies to translation; give it with --decode");
  train::check(s.train);
}

/// What an untrained model is given: batches as a training takes them from a corpus, or drawn ones.
class Batches {
 public:
  explicit Batches(std::vector<corpus::BatchSlice> drawn) : drawn_(std::move(drawn)) {}
  Batches(std::unique_ptr<const corpus::Corpus> corpus, const corpus::BatchOptions& options,
          const comm::Communicator& world)
      : corpus_(std::move(corpus)), sequence_(std::in_place, *corpus_, options, world.rank(), world.size()) {
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
  if (!s.corpus.empty()) {
    auto corpus = std::make_unique<const corpus::Corpus>(open_corpus(s.corpus, world));
    s.model.source_words = corpus->source_vocabulary().size();
    s.model.target_words = corpus->target_vocabulary().size();
    return {std::move(corpus), train::batch_options(s.train), world};
  }
  SyntheticOptions synthetic;
  synthetic.lengths = {{s.source_length, s.target_length}};
  if (!s.lengths.empty()) {  // the root reads it: the file need not be visible to the other ranks
    const std::string text = comm::at_root(world, [&] {
      std::string read = read_file(s.lengths);
      read_pair_lengths(read, s.lengths.string());
      return read;
    });
    synthetic.lengths = read_pair_lengths(text, s.lengths.string());
  }
  synthetic.source_words = s.model.source_words;
  synthetic.target_words = s.model.target_words;
  synthetic.batch_sentences = s.train.batch_sentences;
  synthetic.pool_batches = s.train.pool_batches;
  synthetic.seed = s.train.seed;
  return Batches(synthetic_batches(synthetic, s.untimed_updates + s.updates, static_cast<std::size_t>(world.rank()),
                                   static_cast<std::size_t>(world.size())));
}

/// What was done between two readings of the clock.
struct Timed {
  double seconds = 0;
  double target_words = 0;  // all ranks
  PhaseTimes phases;
  comm::Traffic traffic{};
  std::vector<double> part_seconds{};
};

/// Updates of an untrained model by the code that trains.
class Updates {
 public:
  Updates(const Settings& s, const comm::Communicator& world, model::Model<float>& model)
      : train_(s.train), step_(world, model, s.train) {}

  Timed run(const corpus::BatchSlice& slice) {
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

/// The sum of Tx over a batch whose sources all have words.
double source_lengths(const model::ModelOptions& options, const corpus::BatchSlice& batch) {
  return static_cast<double>(batch.batch_source_words + (options.source_end ? batch.batch_pairs : 0));
}

/// Translations by an untrained model, all of the length that the targets of a batch have in proportion to its sources.
class Translations {
 public:
  Translations(const Settings& s, const comm::Communicator& world, model::Model<float>& model)
      : search_(s.search), world_(world), model_(model) {
    search_.n_best = 1;
    search_.retry_below = 0;  // an untrained model ends nothing
  }

  Timed run(const corpus::BatchSlice& slice) {
    const double Tx = source_lengths(model_.options(), slice);
    // A little more, so that the product with Tx does not fall below a whole number.
    search_.maximum_length_ratio = (static_cast<double>(slice.batch_target_words) + 1e-6) / Tx;
    search_.minimum_length_ratio = search_.maximum_length_ratio;
    search_.batch_sentences = std::max<std::size_t>(slice.source.size(), 1);
    Timed timed;
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

double peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  const std::string key = "VmHWM:";
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return 1024 * std::strtod(line.c_str() + key.size(), nullptr);
  }
  return std::nan("");
}

/// Seen by the root.
struct Measurement {
  std::vector<double> seconds;
  // of all timed batches, words without </s>
  double pairs = 0, source_words = 0, target_words = 0;
  double gflop = 0;                 // of all timed updates; 0: not known
  std::optional<double> waiting{};  // before all timed updates, for their sentences; none where these were drawn
  double peak_bytes = 0;            // of the rank that has most
  std::array<double, kPhases.size()> phases{};
  double bytes_sent = 0, reduction_seconds = 0;  // by the root in sums of gradients; hidden or not
  double visible_seconds = 0;                    // of communication, on the rank that came last and so waited for none
  struct Part {
    model::Model<float>::GradientPart part;
    double seconds = 0;  // sum of those from the beginning of the update until it was known
  };
  std::vector<Part> parts{};

  double total() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }
  double mean() const { return total() / static_cast<double>(seconds.size()); }
  double minimum() const { return *std::min_element(seconds.begin(), seconds.end()); }
  double maximum() const { return *std::max_element(seconds.begin(), seconds.end()); }
  double median() const {
    auto sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
  }
  double mean_of(double sum) const { return sum / static_cast<double>(seconds.size()); }
  double other() const { return std::max(0.0, total() - std::accumulate(phases.begin(), phases.end(), 0.0)); }
};

template <class Work>
Measurement measure(const Settings& s, const comm::Communicator& world, Batches& batches, Work&& work) {
  Measurement m;
  if (batches.of_corpus()) m.waiting = 0;
  Progress progress(!world.is_root());
  const std::size_t count = s.untimed_updates + s.updates;
  for (std::size_t i = 0; i < count; ++i) {
    const Stopwatch reading;
    const corpus::BatchSlice batch = batches.next();
    const double waited = reading.seconds();
    const Timed timed = work.run(batch);
    progress.show(text_of("[benchmark] ", i + 1, " of ", count, ": ", fixed(timed.seconds, 3), " s"));
    double least_visible = -timed.phases.seconds(Phase::kCommunication);
    world.max(std::span(&least_visible, 1));
    if (i < s.untimed_updates) continue;
    m.visible_seconds -= least_visible;
    if (m.waiting) *m.waiting += waited;
    const auto source = static_cast<double>(batch.batch_source_words);
    const auto target = static_cast<double>(batch.batch_target_words);
    const auto pairs = static_cast<double>(batch.batch_pairs);
    m.seconds.push_back(timed.seconds);
    m.pairs += pairs;
    m.source_words += source;
    m.target_words += timed.target_words;
    if (!s.decode) {
      m.gflop += model::update_flop(s.model, {pairs, source_lengths(s.model, batch), target + pairs}) / 1e9;
    }
    for (const Phase phase : kPhases) m.phases[static_cast<std::size_t>(phase)] += timed.phases.seconds(phase);
    m.bytes_sent += static_cast<double>(timed.traffic.bytes_sent);
    m.reduction_seconds += timed.traffic.busy_seconds;
    m.parts.resize(timed.part_seconds.size());
    for (std::size_t part = 0; part < m.parts.size(); ++part) m.parts[part].seconds += timed.part_seconds[part];
  }
  m.peak_bytes = peak_memory_bytes();
  world.max(std::span(&m.peak_bytes, 1));
  return m;
}

/// What the figures were measured on.
struct Machine {
  std::string libraries, instruction_set;
  std::array<double, 3> load{};  // averages of 1, 5 and 15 minutes, before anything was computed
  std::vector<comm::RankPlace> places;
  std::size_t parameters = 0;

  std::size_t hosts() const {
    std::set<std::string> names;
    for (const auto& place : places) names.insert(place.host);
    return names.size();
  }
};

std::uint64_t updates_to_estimate(const Settings& s) {
  return s.decode ? 0 : s.estimate_updates.value_or(s.train.max_updates);
}

Json json_of(const Options& options, const Settings& s, const Machine& machine, const Measurement& m) {
  Json configuration = Json::object();
  for (const auto& [name, text] : options.values()) configuration[name] = text;
  Json ranks = Json::array();
  for (const auto& place : machine.places) {
    ranks.push_back(Json::object({{"host", place.host}, {"threads", place.threads}, {"cpus", place.cpus}}));
  }
  Json phases = Json::object();
  for (const Phase phase : kPhases) phases[name_of(phase)] = m.mean_of(m.phases[static_cast<std::size_t>(phase)]);
  phases["other"] = m.mean_of(m.other());
  Json result = Json::object({
      {"timed", s.decode ? "batches translated" : "updates"},
      {"version", kVersion},
      {"compiler", __VERSION__},
      {"instruction_set", machine.instruction_set},
      {"precision", s.precision},
      {"bfloat16_unit", bfloat16_unit_in_use()},
      {"libraries", machine.libraries},
      {"load_average", Json::array({machine.load[0], machine.load[1], machine.load[2]})},
      {"ranks", machine.places.size()},
      {"hosts", machine.hosts()},
      {"threads", kernels::threads()},
      {"places", std::move(ranks)},
      {"parameters", machine.parameters},
      {"updates", m.seconds.size()},
      {"untimed_updates", s.untimed_updates},
      {"seconds", Json::object({{"median", m.median()},
                                {"minimum", m.minimum()},
                                {"maximum", m.maximum()},
                                {"mean", m.mean()},
                                {"all", Json::array(std::vector<Json>(m.seconds.begin(), m.seconds.end()))}})},
      {"source_words_per_second", m.source_words / m.total()},
      {"target_words_per_second", m.target_words / m.total()},
      {"peak_memory_bytes", std::llround(m.peak_bytes)},
      {"phase_seconds", std::move(phases)},
  });
  if (m.waiting) result["data_seconds"] = m.mean_of(*m.waiting);
  if (m.gflop > 0) {
    result["gflop"] = m.mean_of(m.gflop);
    result["gflop_per_second"] = m.gflop / m.total();
  }
  if (!s.decode) {
    // In the order in which backward finishes them; what scaling models need.
    Json parts = Json::array();
    for (const auto& [part, seconds] : m.parts) {
      parts.push_back(Json::object({{"elements", part.size}, {"table", part.table}, {"seconds", m.mean_of(seconds)}}));
    }
    result["gradient_parts"] = std::move(parts);
    result["bytes_sent"] = std::llround(m.mean_of(m.bytes_sent));
    result["reduction_seconds"] = m.mean_of(m.reduction_seconds);
    result["visible_reduction_seconds"] = m.mean_of(m.visible_seconds);
  }
  if (const auto updates = updates_to_estimate(s); updates > 0) {
    result["estimate"] = Json::object({{"updates", updates}, {"seconds", static_cast<double>(updates) * m.mean()}});
  }
  result["configuration"] = std::move(configuration);
  return result;
}

std::string text_of_report(const Settings& s, const Machine& machine, const Measurement& m) {
  const model::ModelOptions& o = s.model;
  const bool attends = o.attends();
  const std::size_t ranks = machine.places.size();
  const char* unit = s.decode ? "batch" : "update";
  const auto seconds_text = [&](double seconds) { return fixed(seconds, m.mean() < 0.1 ? 6 : 4); };

  const auto parameters = static_cast<double>(machine.parameters);
  std::string text = text_of(model::system_of(o), ", ",
                             parameters < 1e6 ? text_of(machine.parameters) : fixed(parameters / 1e6, 1) + " million",
                             " parameters: embedding ", o.embedding, ", state ", o.state,
                             attends ? text_of(", alignment ", o.alignment) : "", ", maxout ", o.maxout);
  if (o.readout_rank > 0) text += text_of(", readout-rank ", o.readout_rank);
  text += text_of("\n", o.source_words, " source and ", o.target_words, " target words in the vocabularies; ",
                  fixed(m.mean_of(m.pairs), 0), " pairs of ", fixed(m.source_words / m.pairs, 1), " and ",
                  fixed(m.target_words / m.pairs, 1), " words, ",
                  s.decode ? (s.search.beam == 1 ? std::string("greedy") : text_of("beam ", s.search.beam))
                           : name_of(s.train.optimizer),
                  "\n", counted(ranks, "rank"), " of ", counted(kernels::threads(), "thread"),
                  ranks == 1 ? "" : " each", machine.hosts() > 1 ? text_of(" on ", machine.hosts(), " hosts") : "",
                  "; ", machine.instruction_set, ", ", precision_in_use(), ", ", machine.libraries, "; load average ",
                  fixed(machine.load[0], 2), " at the start\n\n");

  const auto row = [&](std::string name, const std::string& value) {
    name.resize(20, ' ');
    text += name + value + "\n";
  };
  row(text_of("seconds ", s.decode ? "a " : "an ", unit),
      text_of("median ", seconds_text(m.median()), ", from ", seconds_text(m.minimum()), " to ",
              seconds_text(m.maximum()), " (", m.seconds.size(), " timed after ", s.untimed_updates, ")"));
  row("words a second",
      text_of(fixed(m.source_words / m.total(), 0), " source, ", fixed(m.target_words / m.total(), 0), " target"));
  if (m.gflop > 0) {
    row("GFLOP/s", text_of(fixed(m.gflop / m.total(), 1),
                           " (the matrix products of an update: ", fixed(m.mean_of(m.gflop), 1), " GFLOP)"));
  }
  if (m.bytes_sent > 0) {
    row("sums over ranks", text_of(fixed(m.mean_of(m.bytes_sent) / 1e6, 1), " MB sent an update by each, ",
                                   seconds_text(m.mean_of(m.reduction_seconds)), " s under way, ",
                                   seconds_text(m.mean_of(m.visible_seconds)), " s not hidden"));
  }
  if (m.waiting) {
    row("waiting for data", text_of(seconds_text(m.mean_of(*m.waiting)), " s before each ", unit, ", ",
                                    fixed(100 * *m.waiting / (m.total() + *m.waiting), 2), "% of both"));
  }
  row("peak memory", text_of(fixed(m.peak_bytes / 1e9, 2), " GB", ranks > 1 ? ", of the rank that needs most" : ""));
  if (const auto updates = updates_to_estimate(s); updates > 0) {
    row(counted(updates, "update"),
        text_of(duration(static_cast<double>(updates) * m.mean()), ", without validation and checkpoints"));
  }

  text += "\n";
  const auto phase_row = [&](std::string name, double sum) {
    if (sum < 0.0005 * m.total()) return;
    name.resize(20, ' ');
    std::string seconds = seconds_text(m.mean_of(sum)), share = fixed(100 * sum / m.total(), 1);
    seconds.insert(0, seconds.size() < 9 ? 9 - seconds.size() : 0, ' ');
    share.insert(0, share.size() < 6 ? 6 - share.size() : 0, ' ');
    text += name + seconds + " s" + share + "%\n";
  };
  for (const Phase phase : kPhases) phase_row(name_of(phase), m.phases[static_cast<std::size_t>(phase)]);
  phase_row("other", m.other());
  phase_row(text_of("mean ", unit), m.total());
  return text;
}

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
  Machine machine;
  if (::getloadavg(machine.load.data(), static_cast<int>(machine.load.size())) < 0) machine.load = {};
  machine.instruction_set = kernels::instruction_set();
  machine.libraries = text_of(kernels::libraries(), ", ", storage::library(), ", ", comm::library());

  const comm::Communicator world;
  check_same_options(world, options);
  machine.places = settle_threads(s.threads, world);
  s.precision = kernels::name_of(set_precision(s.precision, world));
  Batches batches = batches_of(s, world);
  model::Model<float> model(s.model);
  model.initialise(s.train.seed);
  machine.parameters = model.parameters().size();
  Measurement m = s.decode ? measure(s, world, batches, Translations(s, world, model))
                           : measure(s, world, batches, Updates(s, world, model));
  if (!world.is_root()) return 0;
  for (std::size_t part = 0; part < m.parts.size(); ++part) m.parts[part].part = model.gradient_parts()[part];
  for (const auto& line : describe(machine.places)) {
    if (line.find("warning") != line.npos) std::cerr << line << "\n";
  }
  std::cout << (s.json ? json_of(options, s, machine, m).dump(2) + "\n" : text_of_report(s, machine, m));
  return 0;
}

}  // namespace rnnsearch::cli
