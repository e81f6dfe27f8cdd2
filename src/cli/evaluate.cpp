#include "rnnsearch/cli/command.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "cli/options/common.h"
#include "cli/options/translation_options.h"
#include "cli/progress.h"
#include "rnnsearch/base/error.h"
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
  const auto unknown =
      std::count(source.begin(), source.end(), kUnknown) + std::count(target.begin(), target.end(), kUnknown);
  return static_cast<double>(unknown) / static_cast<double>(source.size() + target.size());
}

Test test_of(const Settings& settings) {
  Test test;
  test.name = settings.set;
  if (settings.corpus.empty()) {
    for (const auto& path : settings.references) {
      test.references.push_back(corpus::read_lines(path, settings.line_limit));
      corpus::check_same_lines({settings.references.front(), test.references.front().size()},
                               {path, test.references.back().size()});
    }
    test.place = settings.references.front();
    if (!settings.source.empty()) {
      test.sources = corpus::read_lines(settings.source, settings.line_limit);
      corpus::check_same_lines({test.place, test.references.front().size()}, {settings.source, test.sources.size()});
    }
    return test;
  }
  const corpus::Corpus corpus(settings.corpus, corpus::Verify::kDigest, stop_if_signal_came);
  auto set = corpus.read_set(settings.set);
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
  test.place = settings.corpus.string() + " (" + settings.set + ")";
  return test;
}

void declare(Options& options, Settings& settings) {
  options.group("Systems");
  options.add("hypotheses", settings.hypotheses, kBasic, Placeholder{"[NAME=]FILE"}, kNamedFile,
              "translations by any system: plain text, one sentence per line");
  options.add("model", settings.model, kBasic, Placeholder{"[NAME=]RUN"}, kNamedRun,
              "run directory or checkpoint, which translates the set of --corpus first");
  options.group("References");
  options.add("references", settings.references, kBasic, kInputFile,
              "reference translations, raw text; repeat it for several references");
  options.add("source", settings.source, kInputFile,
              "source text, needed for --bucket-by source and longest, and shown by --sentences");
  options.add("corpus", settings.corpus, kBasic, kInputFile,
              "prepared corpus, used instead of --references and --source: its sets hold raw references and sources, "
              "and its vocabularies say which words are unknown");
  options.add("set", settings.set, kBasic, Placeholder{"SET"}, "which set of --corpus to use: dev or test/NAME");
  declare(options, settings.line_limit);
  declare(options, settings.evaluation);
  options.group("Buckets");
  options.add("breakdown", settings.breakdown, Placeholder{"WHAT"},
              "with --corpus, add rows for groups of sentences or words. unknown: sentences by the share of unknown "
              "words in the pair; rarest: sentences by the training frequency of the reference's rarest word; "
              "frequency: F1 of words by their training frequency");
  options.group("Output");
  options.add("details", settings.details, "add length ratios and p values to the table");
  options.add("chart", settings.chart,
              fmt::format("draw BLEU by length as a text chart below the table, with each bucket's share of the "
                          "system's best bucket; at most {} systems",
                          evaluate::kChartSystems));
  add_json(options, settings.json, "the results");
  options.add("sentences", settings.evaluation.sentences, "add every sentence with its scores to --json");
  add_translation_options(options, settings.translation);
  add_maximum_source_length(options, settings.translation);
  options.group("Machine");
  add_threads(options, settings.threads);
  add_precision(options, settings.precision, ModelUse::kTrained);
}

std::vector<std::string> names_of(const Settings& settings) {
  std::vector<std::string> names;
  for (const std::string& text : settings.hypotheses) names.push_back(named_path(text).name);
  for (const std::string& text : settings.model) names.push_back(named_path(text).name);
  return names;
}

void check(const Options& options, Settings& settings) {
  if (settings.hypotheses.empty() && settings.model.empty()) {
    throw UsageError("nothing to score: give --hypotheses FILE, or --model RUN with --corpus");
  }
  if (settings.corpus.empty()) {
    if (!settings.model.empty()) throw UsageError("--corpus is missing: --model translates one of its sets");
    if (settings.references.empty()) {
      throw UsageError("nothing to compare with: give --references FILE, or --corpus with --set");
    }
    if (!settings.set.empty()) throw UsageError("--set names a set of --corpus, which is missing");
    const auto length = settings.evaluation.length;
    if (length != evaluate::LengthOf::kReference && settings.source.empty()) {
      throw UsageError("--source is missing: --bucket-by " + evaluate::name_of(length) + " counts its words");
    }
    if (!settings.breakdown.empty()) {
      throw UsageError("--breakdown needs --corpus with --set, which knows the words of the training text");
    }
  } else {
    if (settings.set.empty()) throw UsageError("--set is missing: dev or test/NAME, a set of --corpus");
    if (!settings.references.empty() || !settings.source.empty()) {
      throw UsageError(
          "--references and --source cannot be combined with --corpus, whose sets hold both; leave them "
          "out");
    }
    options.refuse(settings.hypotheses.empty(), {"max-line-bytes"},
                   "--{0} is for files of text, and --corpus with --model reads none; leave it out");
  }
  check_translation_options(options, settings.translation);
  auto& evaluation = settings.evaluation;
  evaluate::check_edges(evaluation.edges);
  for (const std::string& what : settings.breakdown) {
    if (what != "unknown" && what != "rarest" && what != "frequency") {
      throw UsageError("--breakdown is '" + what + "', but must be unknown, rarest or frequency");
    }
    evaluation.by_unknown_share |= what == "unknown";
    evaluation.by_rarest_word |= what == "rarest";
    evaluation.words_by_frequency |= what == "frequency";
  }
  if (evaluation.sentences && settings.json.empty())
    throw UsageError("--sentences is for --json: a table has no room for them");

  const std::vector<std::string> names = names_of(settings);
  evaluation.significance.seed = evaluation.bootstrap.seed;
  evaluate::check_systems(evaluation, names);
  if (settings.chart && names.size() > evaluate::kChartSystems) {
    throw UsageError("--chart shows at most {} systems, but there are {}; leave out --chart or some of the systems",
                     evaluate::kChartSystems, names.size());
  }
  options.check_each_once({"hypotheses", "model", "references"});
  // What would be ignored is refused.
  for (const std::string& name : options.given_in("Search")) {
    if (settings.model.empty())
      throw UsageError("--{} is for --model; what is in the files of --hypotheses is scored as it is", name);
  }
  evaluate::check(settings.evaluation);
  if (settings.chart && settings.json == "-") {
    throw UsageError("--chart is for the table; --json holds BLEU by length and shares_of_best_bucket anyway");
  }
  if (settings.details && settings.json == "-") {
    throw UsageError("--details is for the table; --json holds length ratios and p values anyway");
  }
}

int work(const Options&, Settings& settings, const comm::Communicator& communicator) {
  settle_threads(settings.threads, communicator);
  if (!settings.model.empty()) set_precision(settings.precision, communicator);
  Test test;
  const std::vector<std::string> names = names_of(settings);
  std::vector<std::vector<std::string>> systems;
  std::vector<std::string> models;  // the digests of those that translate, which are the last systems
  std::vector<fs::path> texts(settings.references.begin(), settings.references.end());
  for (const std::string& text : settings.hypotheses) texts.push_back(named_path(text).path);
  texts.push_back(settings.source);
  root_reads(texts, settings.threads.stall_timeout, communicator, [&] {
    test = test_of(settings);
    for (const std::string& text : settings.hypotheses) {
      const fs::path path = named_path(text).path;
      systems.push_back(corpus::read_lines(path, settings.line_limit));
      corpus::check_same_lines({path, systems.back().size()}, {test.place, test.references.front().size()});
    }
  });
  for (const std::string& text : settings.model) {
    const auto [name, path] = named_path(text);
    auto loaded = train::open_model(path, communicator);
    if (communicator.is_root()) models.push_back(train::digest_of(loaded.model));
    Progress progress(!communicator.is_root());
    const auto translations = decode::translate_lines(
        translator_of(loaded), {test.sources, {test.place.string()}}, settings.translation, communicator,
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
    if (const auto sentence = sentence_of_parts(in_parts, settings.translation); !sentence.empty()) {
      progress.say("[evaluate] " + name + ": " + sentence);
    }
  }
  if (!communicator.is_root()) return 0;

  std::vector<evaluate::SystemOutput> outputs;
  for (std::size_t i = 0; i < systems.size(); ++i) outputs.push_back({names[i], systems[i]});
  auto evaluation = evaluate::evaluate(test, outputs, settings.evaluation, [] {
    if (stop_signal_came()) throw comm::Stopped("a signal asked to stop; nothing was printed");
  });
  for (std::size_t m = 0; m < models.size(); ++m) {
    evaluation.systems[systems.size() - models.size() + m].model = models[m];
  }
  print_results(
      settings.json, [&] { return evaluate::to_json(evaluation); },
      [&] {
        std::cout << report::evaluation_text(evaluation, settings.details);
        if (settings.chart) std::cout << "\n" << evaluate::render_length_chart(evaluation);
      });
  return 0;
}

}  // namespace

std::unique_ptr<Invocation> make_evaluate() {
  return invocation_of<Settings>(
      {"evaluate",
       "Computes BLEU, and on request chrF, TER and sequence accuracy, over all sentences and by sentence "
       "length, with 95% bootstrap intervals and tests of significance, for any number of systems side by "
       "side. BLEU, chrF and TER are computed exactly as by sacreBLEU. Under mpirun the models translate on all "
       "ranks. After SIGTERM or SIGUSR1 the command ends with exit code 85 and prints nothing.",
       "--hypotheses test.out --references test.fr --chrf"},
      declare, check, work);
}

}  // namespace rnnsearch::cli
