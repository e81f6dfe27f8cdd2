#include "rnnsearch/cli/command.h"

#include <fmt/format.h>

#include <iostream>

#include "cli/options/common.h"
#include "cli/options/translation_options.h"
#include "cli/progress.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/corpus/text_lines.h"
#include "rnnsearch/evaluate/evaluation.h"
#include "rnnsearch/report/evaluation_tables.h"
#include "rnnsearch/train/checkpoint.h"
#include "rnnsearch/train/run_directory.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

struct Settings {
  std::vector<std::string> hypotheses, model, references;
  fs::path source, corpus;
  std::string set;
  LineLimit line_limit;
  evaluate::EvaluationOptions evaluation;
  std::vector<std::string> breakdown;
  decode::TranslationOptions translation;
  fs::path json;
  bool details = false, chart = false;
  ThreadOptions threads;
  std::string precision;
};

// What hypotheses are compared with.
struct Test : evaluate::TestSet {
  fs::path place;  // for errors about its lines
};

std::uint64_t count_of(WordId id, const corpus::Vocabulary& vocabulary) {
  return id == kUnknown ? 0 : vocabulary.counts()[id];
}

double unknown_share(std::span<const WordId> source, std::span<const WordId> target) {
  if (source.empty() && target.empty()) return 0;
  const auto unknown = std::ranges::count(source, kUnknown) + std::ranges::count(target, kUnknown);
  return static_cast<double>(unknown) / static_cast<double>(source.size() + target.size());
}

Test test_of(const Settings& s) {
  Test test;
  test.name = s.set;
  if (s.corpus.empty()) {
    for (const auto& path : s.references) {
      test.references.push_back(corpus::read_lines(path, s.line_limit));
      corpus::check_same_lines({s.references.front(), test.references.front().size()},
                               {path, test.references.back().size()});
    }
    test.place = s.references.front();
    if (!s.source.empty()) {
      test.sources = corpus::read_lines(s.source, s.line_limit);
      corpus::check_same_lines({test.place, test.references.front().size()}, {s.source, test.sources.size()});
    }
    return test;
  }
  const corpus::Corpus corpus(s.corpus, corpus::Verify::kDigest, stop_if_signal_came);
  auto set = corpus.read_set(s.set);
  const auto vocabulary = std::make_shared<const corpus::Vocabulary>(corpus.target_vocabulary());
  for (std::size_t i = 0; i < set.source.size(); ++i) {
    test.unknown_shares.push_back(unknown_share(set.source[i], set.target[i]));
    std::uint64_t rarest = evaluate::kNoWord;
    for (const WordId word : set.target[i]) rarest = std::min(rarest, count_of(word, *vocabulary));
    test.rarest_words.push_back(rarest);
  }
  test.frequencies = {
      [words = corpus.pipeline()](std::string_view line) { return words.to_words(line, corpus::Side::kTarget); },
      [vocabulary](std::string_view word) { return count_of(vocabulary->id(word), *vocabulary); }};
  const corpus::TextPipeline& pipeline = corpus.pipeline();
  const corpus::TextPipeline unnamed;
  if (pipeline.source_language != unnamed.source_language) test.source_language = pipeline.source_language;
  if (pipeline.target_language != unnamed.target_language) test.target_language = pipeline.target_language;
  test.references = std::move(set.references);
  test.sources = std::move(set.source_text);
  test.place = s.corpus.string() + " (" + s.set + ")";
  return test;
}

void add_evaluation_options(Options& options, evaluate::EvaluationOptions& o) {
  options.group("Metrics");
  options.add("tokenizer", o.bleu.tokenizer, "tokenizer of BLEU, as in sacreBLEU");
  options.add("smoothing", o.bleu.smoothing, "BLEU smoothing method, as in sacreBLEU");
  options.add("smooth-value", o.bleu.smooth_value, at_least(0), "parameter of --smoothing floor [0.1] or add-k [1]");
  options.add("lowercase", o.bleu.lowercase, "compare lower-cased text");
  options.add("chrf", o.chrf, "also compute chrF and chrF++");
  options.add("ter", o.ter, "also compute TER, the number of edits per 100 reference words; lower is better");
  options.add("ter-normalized", o.ter_options.normalized,
              "separate punctuation from words for TER and replace XML entities by their characters, as sacreBLEU's "
              "--ter-normalized");
  options.add("ter-no-punctuation", o.ter_options.no_punct,
              "remove punctuation for TER, as sacreBLEU's --ter-no-punct");
  options.add("ter-asian", o.ter_options.asian_support,
              "for TER, apply --ter-normalized and --ter-no-punctuation to Chinese and Japanese too, as sacreBLEU's "
              "--ter-asian-support");
  options.add("ter-case-sensitive", o.ter_options.case_sensitive,
              "do not lower-case text for TER, as sacreBLEU's --ter-case-sensitive");
  options.add("sequence-accuracy", o.sequence_accuracy,
              "also compute, for tasks with one right answer, the means over sentences, in percent, of PSA (share of "
              "reference positions whose word is right), LCSR (longest common subsequence over the reference's length) "
              "and GeoMean (sqrt(PSA LCSR) of each sentence). whole: LCSR of the whole output; cut: of the output cut "
              "to the reference's length");
  options.add("bootstrap", o.bootstrap.samples, within(0, 1e6),
              "number of bootstrap samples for the 95% intervals; 0: no intervals");
  options.add("seed", o.bootstrap.seed, "seed of the bootstrap and of the significance tests");
  options.group("Buckets");
  options.add("bucket-by", o.length,
              "side whose length decides in which bucket a sentence is; longest: the longer side of the pair");
  options.add("edges", o.edges, "largest length of each bucket; one more bucket holds all longer sentences");
  options.add("length-tokenizer", o.length_tokenizer, "tokenizer that counts the words of a sentence [that of BLEU]");
  options.group("Significance");
  options.add("significance", o.significance.test,
              "paired test of every other system against --baseline, overall and in each bucket");
  options.add("baseline", o.baseline, Placeholder{"NAME"},
              "name of the system that others are compared with [the first]");
  options.add("significance-samples", o.significance.samples, within(1, 1e7),
              "number of samples of the bootstrap [1000] or trials of the randomization [10000]");
}

void declare(Options& options, Settings& s) {
  options.group("Systems");
  options.add("hypotheses", s.hypotheses, kBasic, Placeholder{"[NAME=]FILE"}, kNamedFile,
              "translations by any system: plain text, one sentence per line");
  options.add("model", s.model, kBasic, Placeholder{"[NAME=]RUN"}, kNamedRun,
              "run directory or checkpoint, which translates the set of --corpus first");
  options.group("References");
  options.add("references", s.references, kBasic, kInputFile,
              "reference translations, raw text; repeat it for several references");
  options.add("source", s.source, kInputFile,
              "source text, needed for --bucket-by source and longest, and shown by --sentences");
  options.add("corpus", s.corpus, kBasic, kInputFile,
              "prepared corpus, used instead of --references and --source: its sets hold raw references and sources, "
              "and its vocabularies say which words are unknown");
  options.add("set", s.set, kBasic, Placeholder{"SET"}, "which set of --corpus to use: dev or test/NAME");
  declare(options, s.line_limit);
  add_evaluation_options(options, s.evaluation);
  options.group("Buckets");
  options.add("breakdown", s.breakdown, Placeholder{"WHAT"},
              "with --corpus, add rows for groups of sentences or words. unknown: sentences by the share of unknown "
              "words in the pair; rarest: sentences by the training frequency of the reference's rarest word; "
              "frequency: F1 of words by their training frequency");
  options.group("Output");
  options.add("details", s.details, "add length ratios and p values to the table");
  options.add("chart", s.chart,
              fmt::format("draw BLEU by length as a text chart below the table, with each bucket's share of the "
                          "system's best bucket; at most {} systems",
                          evaluate::kChartSystems));
  add_json(options, s.json, "the results");
  options.add("sentences", s.evaluation.sentences, "add every sentence with its scores to --json");
  add_translation_options(options, s.translation);
  add_maximum_source_length(options, s.translation);
  options.group("Machine");
  add_threads(options, s.threads);
  add_precision(options, s.precision, ModelUse::kTrained);
}

/// Throws UsageError for a combination of options in which one would be ignored.
void check_evaluation(const evaluate::EvaluationOptions& options) {
  const evaluate::Smoothing smoothing = options.bleu.smoothing;
  if (options.bleu.smooth_value && smoothing != evaluate::Smoothing::kFloor && smoothing != evaluate::Smoothing::kAddK)
    throw UsageError("--smooth-value is for --smoothing floor or add-k, not for " + name_of(smoothing));
  if (!options.ter && options.ter_options != evaluate::TerOptions{})
    throw UsageError("--ter-normalized, --ter-no-punctuation, --ter-asian and --ter-case-sensitive are for --ter");
  if (options.ter_options.asian_support && !options.ter_options.normalized && !options.ter_options.no_punct)
    throw UsageError("--ter-asian is for --ter-normalized or --ter-no-punctuation, which it extends");
  if (options.significance.samples && options.significance.test == evaluate::SignificanceTest::kNone)
    throw UsageError("--significance-samples is for --significance bootstrap or randomization");
}

/// Throws UsageError if two systems have the same name, or for a test of significance or a baseline that these systems
/// do not allow.
void check_systems(const evaluate::EvaluationOptions& options, const std::vector<std::string>& systems) {
  for (auto system = systems.begin(); system != systems.end(); ++system) {
    if (std::find(systems.begin(), system, *system) == system) continue;
    throw UsageError("two systems are called '" + *system + "'; give each a name of its own: NAME=FILE");
  }
  if (options.significance.test == evaluate::SignificanceTest::kNone) {
    if (!options.baseline.empty())
      throw UsageError("--baseline is for --significance bootstrap or randomization, which compare with it");
    return;
  }
  if (systems.size() < 2)
    throw UsageError("--significance compares systems, but there is only '" + systems.front() +
                     "'; give another one by --hypotheses or --model");
  if (!options.baseline.empty() && std::ranges::find(systems, options.baseline) == systems.end())
    throw UsageError("--baseline is '{}', but the systems are {}", options.baseline,
                     fmt::to_string(fmt::join(systems, ", ")));
}

std::vector<std::string> names_of(const Settings& s) {
  std::vector<std::string> names;
  for (const std::string& text : s.hypotheses) names.push_back(named_path(text).name);
  for (const std::string& text : s.model) names.push_back(named_path(text).name);
  return names;
}

void check(const Options& options, Settings& s) {
  if (s.hypotheses.empty() && s.model.empty())
    throw UsageError("nothing to score: give --hypotheses FILE, or --model RUN with --corpus");
  if (s.corpus.empty()) {
    if (!s.model.empty()) throw UsageError("--corpus is missing: --model translates one of its sets");
    if (s.references.empty())
      throw UsageError("nothing to compare with: give --references FILE, or --corpus with --set");
    if (!s.set.empty()) throw UsageError("--set names a set of --corpus, which is missing");
    const auto length = s.evaluation.length;
    if (length != evaluate::LengthOf::kReference && s.source.empty())
      throw UsageError("--source is missing: --bucket-by " + name_of(length) + " counts its words");
    if (!s.breakdown.empty())
      throw UsageError("--breakdown needs --corpus with --set, which knows the words of the training text");
  } else {
    if (s.set.empty()) throw UsageError("--set is missing: dev or test/NAME, a set of --corpus");
    if (!s.references.empty() || !s.source.empty())
      throw UsageError(
          "--references and --source cannot be combined with --corpus, whose sets hold both; leave them out");
    options.refuse(s.hypotheses.empty(), {"max-line-bytes"},
                   "--{0} is for files of text, and --corpus with --model reads none; leave it out");
  }
  check_translation_options(options, s.translation);
  auto& evaluation = s.evaluation;
  evaluate::check_edges(evaluation.edges);
  for (const std::string& what : s.breakdown) {
    if (what != "unknown" && what != "rarest" && what != "frequency")
      throw UsageError("--breakdown is '" + what + "', but must be unknown, rarest or frequency");
    evaluation.by_unknown_share |= what == "unknown";
    evaluation.by_rarest_word |= what == "rarest";
    evaluation.words_by_frequency |= what == "frequency";
  }
  if (evaluation.sentences && s.json.empty())
    throw UsageError("--sentences is for --json: a table has no room for them");

  const std::vector<std::string> names = names_of(s);
  check_systems(evaluation, names);
  if (s.chart && names.size() > evaluate::kChartSystems)
    throw UsageError("--chart shows at most {} systems, but there are {}; leave out --chart or some of the systems",
                     evaluate::kChartSystems, names.size());
  options.check_each_once({"hypotheses", "model", "references"});
  // What would be ignored is refused.
  for (const std::string& name : options.given_in("Search")) {
    if (s.model.empty())
      throw UsageError("--{} is for --model; what is in the files of --hypotheses is scored as it is", name);
  }
  options.refuse(s.model.empty(), {"precision"}, "--{0} is for --model; leave it out");
  options.refuse(
      s.evaluation.bootstrap.samples == 0 && s.evaluation.significance.test == evaluate::SignificanceTest::kNone,
      {"seed"}, "--{0} is for the bootstrap and the significance tests; leave it out");
  check_evaluation(s.evaluation);
  if (s.chart && s.json == "-")
    throw UsageError("--chart is for the table; --json holds BLEU by length and shares_of_best_bucket anyway");
  if (s.details && s.json == "-")
    throw UsageError("--details is for the table; --json holds length ratios and p values anyway");
}

int work(const Options&, Settings& s, const comm::Communicator& communicator) {
  settle_threads(s.threads, communicator);
  if (!s.model.empty()) set_precision(s.precision, communicator);
  Test test;
  const std::vector<std::string> names = names_of(s);
  std::vector<std::vector<std::string>> systems;
  std::vector<std::string> models;  // the digests of those that translate, which are the last systems
  std::vector<fs::path> texts(s.references.begin(), s.references.end());
  for (const std::string& text : s.hypotheses) texts.push_back(named_path(text).path);
  texts.push_back(s.source);
  root_reads(texts, s.threads.stall_timeout, communicator, [&] {
    test = test_of(s);
    for (const std::string& text : s.hypotheses) {
      const fs::path path = named_path(text).path;
      systems.push_back(corpus::read_lines(path, s.line_limit));
      corpus::check_same_lines({path, systems.back().size()}, {test.place, test.references.front().size()});
    }
  });
  for (const std::string& text : s.model) {
    const auto [name, path] = named_path(text);
    auto loaded = train::open_model(path, communicator);
    if (communicator.is_root()) models.push_back(train::digest_of(loaded.model));
    Progress progress(!communicator.is_root());
    const auto translations = decode::translate_lines(
        translator_of(loaded), {test.sources, {test.place.string()}}, s.translation, communicator,
        [&, system = name](std::size_t done, std::size_t all) {
          progress.show(fmt::format("[evaluate] {}: {}%", system, 100 * done / std::max<std::size_t>(all, 1)));
        });
    if (comm::stop_signal_came_anywhere(communicator))
      throw comm::Stopped("a signal asked to stop; nothing was evaluated");
    auto& lines = systems.emplace_back();
    std::size_t in_parts = 0;
    for (const auto& best : translations) {
      lines.push_back(best.front().text);
      in_parts += best.front().parts > 1 ? 1 : 0;
    }
    if (const auto sentence = sentence_of_parts(in_parts, s.translation); !sentence.empty())
      progress.say("[evaluate] " + name + ": " + sentence);
  }
  if (!communicator.is_root()) return 0;

  std::vector<evaluate::SystemOutput> outputs;
  for (std::size_t i = 0; i < systems.size(); ++i) outputs.push_back({names[i], systems[i]});
  auto evaluation = evaluate::evaluate(test, outputs, s.evaluation, [] {
    if (stop_signal_came()) throw comm::Stopped("a signal asked to stop; nothing was printed");
  });
  for (std::size_t m = 0; m < models.size(); ++m)
    evaluation.systems[systems.size() - models.size() + m].model = models[m];
  print_results(
      s.json, [&] { return evaluate::to_json(evaluation); },
      [&] {
        std::cout << report::evaluation_text(evaluation, s.details);
        if (s.chart) std::cout << "\n" << evaluate::render_length_chart(evaluation);
      });
  return 0;
}

}  // namespace

std::unique_ptr<Invocation> make_evaluate() {
  return invocation_of<Settings>(
      {"evaluate",
       "Computes BLEU, and on request chrF, TER and sequence accuracy, over all sentences and by sentence length, with "
       "95% bootstrap intervals and tests of significance, for any number of systems side by side. BLEU, chrF and TER "
       "are computed exactly as by sacreBLEU. Under mpirun the models translate on all ranks. After SIGTERM or SIGUSR1 "
       "the command ends with exit code 85 and prints nothing.",
       "--hypotheses test.out --references test.fr --chrf"},
      declare, check, work);
}

}  // namespace rnnsearch::cli
