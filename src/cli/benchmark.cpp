#include "rnnsearch/cli/command.h"

#include <cstdlib>
#include <iostream>
#include <set>

#include "cli/options/common.h"
#include "cli/options/training_options.h"
#include "cli/progress.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/portable.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/stopwatch.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/batches.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/corpus/synthetic_batches.h"
#include "rnnsearch/decode/shortlist.h"
#include "rnnsearch/decode/translate.h"
#include "rnnsearch/kernels/instruction_set.h"
#include "rnnsearch/model/model.h"
#include "rnnsearch/model/options.h"
#include "rnnsearch/site/measurement.h"
#include "rnnsearch/train/checkpoint.h"
#include "rnnsearch/train/optimizer.h"
#include "rnnsearch/train/run_directory.h"
#include "rnnsearch/train/trainer.h"
#include "rnnsearch/train/update.h"

namespace rnnsearch::cli {
namespace {

struct BenchmarkSettings : TrainingSettings {
  BenchmarkSettings() {
    model.source_words = model.target_words = 30000;
    train.resume = "never";
  }

  std::size_t updates = 10, untimed_updates = 2;
  std::optional<std::uint64_t> estimate_updates;
  std::filesystem::path lengths, corpus;
  std::vector<std::string> mix;  // ignored
  std::size_t source_length = 25, target_length = 25;
  bool decode = false, machine = true;
  decode::SearchOptions search;
  std::uint64_t latency_sentences = 0;
  std::size_t shortlist_frequent = 0, shortlist_translations = 0;  // both 0: no shortlists
  std::filesystem::path json;
  std::optional<std::vector<std::uint64_t>> thread_counts;  // of each rank, ascending after `check`, none twice
  ThreadOptions threads;                                    // the number at hand, and what holds for all
  std::string precision;
};

/// What an untrained model is given: batches as a training takes them from a corpus, or drawn ones.
class Batches {
 public:
  explicit Batches(std::vector<corpus::BatchSlice> drawn) : drawn_(std::move(drawn)) {}
  Batches(std::unique_ptr<const corpus::Corpus> corpus, const corpus::BatchOptions& options,
          const comm::Communicator& communicator, std::uint64_t run)
      : corpus_(std::move(corpus)),
        sequence_(std::in_place, *corpus_, options, communicator.rank(), communicator.size(), run) {
    sequence_->seek({});  // as before a training's first update
  }

  bool of_corpus() const { return sequence_.has_value(); }
  corpus::BatchSlice next() { return sequence_ ? sequence_->next() : drawn_[drawn_index_++]; }
  /// The next batch is the first one again.
  void rewind() {
    if (sequence_) sequence_->seek({});
    drawn_index_ = 0;
  }

 private:
  std::vector<corpus::BatchSlice> drawn_;
  std::size_t drawn_index_ = 0;
  std::unique_ptr<const corpus::Corpus> corpus_;
  std::optional<corpus::BatchSequence> sequence_;  // of `corpus_`
};

void declare(Options& options, BenchmarkSettings& s) {
  options.group("Measurement");
  options.add("updates", s.updates, within(1, 1e6), "number of timed updates");
  options.add("untimed-updates", s.untimed_updates, within(0, 1e6),
              "number of warm-up updates before the timed ones, in which buffers are allocated");
  options.add("estimate-updates", s.estimate_updates, at_least(1),
              "print how long this number of updates would take [max-updates]");
  options.add("decode", s.decode, kBasic,
              "time translation instead of training; every translation is --target-length words long, because an "
              "untrained model does not end sentences");
  options.add(
      "machine", s.machine, kNotRecorded,
      "afterwards measure the machine's rates of matrix products, memory and all-reduces, which takes about three "
      "seconds and at least 384 MiB for each rank, and show how close each phase of an update comes to them");
  options.add("beam", s.search.beam, within(1, 1000), "beam width for --decode; 1 is greedy search");
  options.add("latency-sentences", s.latency_sentences, within(0, 1e6),
              "with --decode: afterwards translate this number of sentences one at a time, and report the median and "
              "the 99th percentile of the time per sentence; then translate in batches of 1, 2, 4 ... sentences and "
              "report the fastest batch size; 0: measure neither");
  options.add("shortlist-frequent", s.shortlist_frequent, within(0, 1e8),
              "with --decode: translate with shortlists, which hold this number of most frequent target words");
  options.add("shortlist-translations", s.shortlist_translations, within(0, 1e5),
              "with --decode: translate with shortlists, which hold this number of target words, drawn at random, for "
              "each source word; with this and --shortlist-frequent 0 there are no shortlists");

  options.group("Sentences (random words)");
  options.add("source-length", s.source_length, within(1, 1e5),
              "number of words in each source sentence, without </s>");
  options.add("target-length", s.target_length, within(1, 1e5),
              "number of words in each target sentence, without </s>");
  options.add("lengths", s.lengths, kInputFile,
              "file with lengths of real pairs: 'SOURCE TARGET' on each line, in words without </s>; pools are sorted "
              "by length as in training");
  options.add("source-words", s.model.source_words, within(4, 1e8),
              "size of the source vocabulary, including special symbols");
  options.add("target-words", s.model.target_words, within(4, 1e8),
              "size of the target vocabulary, including special symbols");
  options.add("corpus", s.corpus, kInputFile, "take vocabularies and batches from this corpus instead of drawing them");
  options.add("mix", s.mix, Placeholder{"FILE:WEIGHT"}, kWeightedFile,
              "corpora that train mixes with --corpus; ignored, and accepted because the config.ini of such a run has "
              "them: batches are those of --corpus");
  options.group("Output");
  add_json(options, s.json, "the measurements");
  add_training_options(options, s);
  options.group("Machine");
  options.add("threads", s.thread_counts, kBasic, kNotRecorded,
              "number of threads of each rank [the number of CPUs that the rank may use, divided by the number of "
              "ranks that share them]; several numbers, such as 1,2,4,8, time the same updates with each number of "
              "threads and show how an update scales");
  add_thread_limits(options, s.threads);
  add_precision(options, s.precision, ModelUse::kTrained);
  options.offer_presets();
}

void check(const Options& options, BenchmarkSettings& s) {
  const auto refuse_with = [&](const char* one, std::initializer_list<const char*> others, const std::string& reason) {
    options.refuse(options.given(one), others, fmt::format("--{} and --{{0}}: {}; give one of the two", one, reason));
  };
  refuse_with("lengths", {"source-length", "target-length"}, "the file gives the length of every sentence");
  refuse_with("corpus", {"source-length", "target-length"}, "the corpus gives the length of every sentence");
  refuse_with("corpus", {"lengths"}, "both determine the sentences of a batch");
  if (s.train.batch_words.largest() > 0 && !options.given("corpus"))
    throw UsageError("--batch-words needs --corpus: without it the size of a batch is counted in sentences");
  refuse_with("corpus", {"source-words", "target-words"}, "the corpus has its vocabularies");
  options.refuse(s.decode, {"estimate-updates"},
                 "--{0} and --decode: updates belong to training, not to translation; give one of the two");
  if (!s.decode && s.precision == "int8")
    throw UsageError("--precision int8 applies to translation; give it with --decode");
  options.refuse(!s.decode, {"beam", "latency-sentences", "shortlist-frequent", "shortlist-translations"},
                 "--{0} applies to translation; give it with --decode");
  if (s.thread_counts) {
    std::vector<std::uint64_t>& counts = *s.thread_counts;
    std::ranges::sort(counts);
    if (counts.empty() || counts.front() < 1 || counts.back() > kMostThreads)
      throw UsageError("--threads is '{}' but must be whole numbers from 1 to {} with commas between them",
                       value::write(counts), kMostThreads);
    if (std::adjacent_find(counts.begin(), counts.end()) != counts.end())
      throw UsageError("--threads has a number twice ({}); give each once", value::write(counts));
  }
  check_usage([&] { train::check(s.train); });
  // What changes during a training is timed as it stays.
  const bool drops = s.model.drops_units();
  for (Ramp* const number :
       {&s.train.batch_words, &s.train.label_smoothing, &s.train.guided_alignment, &s.model.dropout,
        &s.model.attention_dropout, &s.model.source_word_dropout, &s.model.target_word_dropout})
    *number = number->to;
  if (drops && !s.model.drops_units()) s.model.dropout_kind = model::DropoutKind::kPlain;  // no kind applies
}

// COLLECTIVE.
model::ProductFlop sum_of(const model::ProductFlop& own, const comm::Communicator& communicator) {
  double sums[] = {own.encoder, own.decoder, own.readout};
  communicator.all_reduce(std::span<double>(sums));
  return {sums[0], sums[1], sums[2]};
}

// For translations by an untrained model, which ends nothing.
decode::SearchOptions endless(decode::SearchOptions search) {
  search.n_best = 1;
  search.retry_below = 0;
  return search;
}

// All translations get the length that `target_words` have in proportion to sources whose lengths add up to Tx.
void set_lengths(decode::SearchOptions& search, double target_words, double Tx) {
  // A little more, so that the product with Tx does not fall below a whole number.
  search.maximum_length_ratio = (target_words + 1e-6) / Tx;
  search.minimum_length_ratio = search.maximum_length_ratio;
}

// COLLECTIVE. The products of translations on all ranks. In the first step of a search a sentence has one hypothesis,
// and then as many as the beam is wide.
model::ProductFlop flop_of(const Sentences& sources, const std::vector<std::vector<decode::Translation>>& translations,
                           model::ModelOptions options, const decode::SearchOptions& search,
                           const comm::Communicator& communicator) {
  model::ProductFlop flop;
  std::set<WordId> embedded;  // the sentences are encoded together, and an embedding is multiplied for all of them
  if (options.source_end) embedded.insert(kEnd);
  if (options.source_start) embedded.insert(kStart);
  for (std::size_t b = 0; b < sources.size(); ++b) {
    if (search.shortlist) options.target_words = search.shortlist->words_for(sources[b]).size();
    const std::size_t read = options.source_length(sources.length(b)) + (options.source_start ? 1 : 0);
    const auto steps = static_cast<double>(translations[b].front().words.size());
    embedded.insert(sources[b].begin(), sources[b].end());
    flop += model::forward_flop(options, {.pairs = 1,
                                          .source_words = static_cast<double>(read),
                                          .target_words = 1 + (steps - 1) * static_cast<double>(search.beam),
                                          .source_embeddings = 0});
  }
  flop += model::forward_flop(options, {.source_embeddings = static_cast<double>(embedded.size())});
  return sum_of(flop, communicator);
}

/// COLLECTIVE. May set the sizes of the vocabularies.
Batches batches_of(BenchmarkSettings& s, const comm::Communicator& communicator) {
  const std::uint64_t run = s.decode ? 1 : train::shards_of_rank(s.train, communicator.size());
  if (!s.corpus.empty()) {
    auto corpus = std::make_unique<const corpus::Corpus>(train::open_corpus(s.corpus, communicator));
    s.model.source_words = corpus->source_vocabulary().size();
    s.model.target_words = corpus->target_vocabulary().size();
    return {std::move(corpus), train::batch_options(s.train), communicator, run};
  }
  corpus::SyntheticOptions synthetic;
  synthetic.lengths = {{s.source_length, s.target_length}};
  if (!s.lengths.empty()) {  // the root reads it: the file need not be visible to the other ranks
    const std::string text = comm::at_root(communicator, [&] {
      std::string read = read_text_file(s.lengths);
      corpus::read_pair_lengths(read, s.lengths.string());
      return read;
    });
    synthetic.lengths = corpus::read_pair_lengths(text, s.lengths.string());
  }
  synthetic.source_words = s.model.source_words;
  synthetic.target_words = s.model.target_words;
  synthetic.batch_sentences = s.train.batch_sentences;
  synthetic.pool_batches = s.train.pool_batches;
  synthetic.sampled_softmax = s.train.sampled_softmax;
  synthetic.seed = s.train.seed;
  return Batches(corpus::synthetic_batches(synthetic, s.untimed_updates + s.updates,
                                           static_cast<std::size_t>(communicator.rank()),
                                           static_cast<std::size_t>(communicator.size()), run));
}

/// The shortlists of --shortlist-frequent and --shortlist-translations; nullptr if both are 0. The vocabularies have
/// their sizes.
std::shared_ptr<const decode::Shortlist> shortlist_of(const BenchmarkSettings& s) {
  if (s.shortlist_frequent + s.shortlist_translations == 0) return nullptr;
  Random random(s.train.seed);
  Sentences translations;
  std::vector<WordId> words(s.shortlist_translations);
  for (std::size_t source = 0; source < s.model.source_words; ++source) {
    for (WordId& word : words) word = static_cast<WordId>(random.below(s.model.target_words));
    translations.add(words);
  }
  return std::make_shared<const decode::Shortlist>(std::move(translations), s.shortlist_frequent, s.model.target_words);
}

/// For --latency-sentences, on the first batches. Starts them anew before and after.
site::Latency latency_of(const BenchmarkSettings& s, Batches& batches, model::Model& model) {
  site::Latency latency;
  decode::SearchOptions search = endless(s.search);
  batches.rewind();
  const corpus::BatchSlice first = batches.next();
  corpus::BatchSlice slice = first;
  for (std::uint64_t batch = 0, i = 0; latency.seconds.size() < s.latency_sentences && !first.source.empty(); ++i) {
    if (i >= slice.source.size()) {
      if (++batch % (s.untimed_updates + s.updates) == 0) batches.rewind();  // no more were drawn
      slice = batches.next();
      i = 0;
      if (slice.source.empty()) continue;
    }
    Sentences one;
    one.add(slice.source[i]);
    set_lengths(search, static_cast<double>(slice.target.length(i)),
                static_cast<double>(model.options().source_length(slice.source.length(i))));
    const Stopwatch watch;
    decode::translate(model, one, search);
    latency.seconds.push_back(watch.seconds());
  }
  set_lengths(search, static_cast<double>(first.batch_target_words), site::source_lengths(model.options(), first));
  for (std::size_t together = 1;; together = std::min(2 * together, first.source.size())) {
    search.batch_sentences = together;
    const Stopwatch watch;
    double words = 0;
    for (const auto& best : decode::translate(model, first.source, search))
      words += static_cast<double>(best.front().words.size());
    latency.rates.push_back({together, words / watch.seconds()});
    if (together >= first.source.size()) break;
  }
  batches.rewind();
  return latency;
}

/// COLLECTIVE. Makes an update of a batch, or translates it, and times it. Throws AgreedError when the model computes
/// NaN. What it was made of must outlive it.
using TimedWork = std::function<site::Timed(const corpus::BatchSlice&)>;

/// Updates of an untrained model by the code that trains; they change its parameters.
TimedWork updates_of(const BenchmarkSettings& s, const comm::Communicator& communicator, model::Model& model) {
  const auto step = std::make_shared<train::UpdateStep>(communicator, model, s.train);
  const auto average = std::make_shared<train::ParameterAverage>(s.train.average_decay, model.parameters().size());
  average->begin(model.parameters());
  return [&, step, average, update = std::uint64_t{0}](const corpus::BatchSlice& slice) mutable -> site::Timed {
    const double rate = train::learning_rate(s.train, {.update = ++update});
    const Stopwatch watch;
    const auto result = step->run({.share = slice, .learning_rate = rate, .update = update});
    average->follow(model.parameters(), update);
    const double seconds = watch.seconds();
    if (!result.applied)
      throw comm::AgreedError(
          fmt::format("the gradient of update {} is not finite, so updates cannot be timed; try a lower learning-rate "
                      "or initial-deviation",
                      update));
    return {seconds,
            static_cast<double>(slice.batch_target_words),
            result.negative_log_likelihood,
            sum_of(model::update_flop(model.options(), result.own_batch), communicator),
            result.phases,
            result.traffic,
            result.part_seconds};
  };
}

/// Translations by an untrained model, all of the length that the targets of a batch have in proportion to its sources.
TimedWork translations_of(const BenchmarkSettings& s, const comm::Communicator& communicator, model::Model& model) {
  return [&, search = endless(s.search)](const corpus::BatchSlice& slice) mutable {
    set_lengths(search, static_cast<double>(slice.batch_target_words), site::source_lengths(model.options(), slice));
    search.batch_sentences = std::max<std::size_t>(slice.source.size(), 1);
    site::Timed timed;
    PhaseTimes& phases = model.phases();
    phases.clear();
    const Stopwatch watch;
    const auto translations = decode::translate(model, slice.source, search);
    {
      const PhaseTimes::Scope scope(&phases, Phase::kCommunication);
      double sums[] = {0, 0};  // words, translations that are NaN
      for (const auto& best : translations) {
        sums[0] += static_cast<double>(best.front().words.size());
        sums[1] += best.front().is_nan() ? 1 : 0;
      }
      communicator.all_reduce(std::span<double>(sums));  // waits for the slowest rank
      timed.target_words = sums[0];
      if (sums[1] > 0)
        throw comm::AgreedError(
            "the untrained model computes NaN, so translation cannot be timed; try a lower initial-deviation");
    }
    timed.seconds = watch.seconds();
    timed.phases = phases;
    timed.flop = flop_of(slice.source, translations, model.options(), search, communicator);
    return timed;
  };
}

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
  model::Model model(s.model, s.train.sampled_softmax > 0);
  model.initialise(s.train.seed);
  measured.parameters = model.parameters().size();
  if (s.decode) {
    model.fix_parameters();
  } else {
    measured.parts = {model.gradient_parts().begin(), model.gradient_parts().end()};
    std::size_t tables = 0;
    for (const auto& table : model.table_gradients()) tables += table.rows.table_rows() * table.rows.cols();
    measured.optimizer_bytes =
        train::optimizer_bytes(s.train, model.gradient().size(), tables) * static_cast<double>(communicator.size());
  }
  const site::Work work{
      [&] { return batches.next(); }, batches.of_corpus(),
      s.decode ? translations_of(s, communicator, model) : updates_of(s, communicator, model),
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
    if (measurement.loss != first)
      throw comm::AgreedError(
          fmt::format("on {} threads the last update has loss {:g}, on {} {:g}, although threads must not change it; "
                      "this is a bug in rnnsearch: please report it with this command line",
                      threads, measurement.loss, counts.front(), first));
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
  return invocation_of<BenchmarkSettings>(
      {"benchmark",
       "Times training updates, or translation, with any configuration on this machine. It runs the code of train on "
       "an untrained model and random words; under mpirun it runs on several ranks, as a training does. It accepts "
       "every option of train, and therefore presets and the config.ini of a run; options that do not affect an update "
       "are ignored.",
       "--preset rnnsearch-50 --threads 1,2,4"},
      declare, check, work);
}

}  // namespace rnnsearch::cli
