#include "cli/evaluate.h"

#include <algorithm>
#include <iostream>
#include <optional>

#include "cli/agreement.h"
#include "cli/placement.h"
#include "cli/precision.h"
#include "cli/progress.h"
#include "cli/shared_files.h"
#include "cli/text_lines.h"
#include "cli/translation.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/evaluate/buckets.h"
#include "rnnsearch/kernels/parallel.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

struct Settings {
  std::vector<std::string> hypotheses, model, references;
  fs::path source, corpus;
  std::string set;
  evaluate::BleuOptions bleu;
  evaluate::BucketOptions buckets;
  TranslationOptions translation;
  bool json = false;
  ThreadOptions threads;
  std::string precision;
};

struct Named {
  std::string name;
  fs::path path;
};

// NAME=FILE, or FILE alone: then its name without folders and extension.
Named named(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos && equals > 0 && text.find('/') >= equals && !fs::exists(text)) {
    return {text.substr(0, equals), text.substr(equals + 1)};
  }
  const fs::path path = text.ends_with('/') ? text.substr(0, text.size() - 1) : text;
  return {path.stem().string(), path};
}

// What hypotheses are compared with.
struct Test {
  std::vector<std::vector<std::string>> references;  // [k][i]
  std::vector<std::string> sources;                  // empty: not known
  std::optional<std::vector<bool>> known;            // no unknown word in the pair
  fs::path place;                                    // for errors about numbers of lines
};

Test test_of(const Settings& settings) {
  Test test;
  if (settings.corpus.empty()) {
    for (const auto& path : settings.references) {
      test.references.push_back(read_lines(path));
      check_same_lines(settings.references.front(), test.references.front().size(), path,
                       test.references.back().size());
    }
    test.place = settings.references.front();
    if (!settings.source.empty()) {
      test.sources = read_lines(settings.source);
      check_same_lines(test.place, test.references.front().size(), settings.source, test.sources.size());
    }
    return test;
  }
  const corpus::Corpus corpus(settings.corpus, corpus::Verify::kDigest, stop_if_signal_came);
  auto set = corpus.read_set(settings.set);
  const auto knows = [](std::span<const WordId> words) {
    return std::find(words.begin(), words.end(), kUnknown) == words.end();
  };
  test.known.emplace();
  for (std::size_t i = 0; i < set.source.size(); ++i) {
    test.known->push_back(knows(set.source[i]) && knows(set.target[i]));
  }
  test.references = std::move(set.references);
  test.sources = std::move(set.source_text);
  test.place = settings.corpus.string() + " (" + settings.set + ")";
  return test;
}

void declare(Options& options, Settings& settings) {
  options.group("What is scored");
  options.add("hypotheses", settings.hypotheses,
              {.help = "translations, plain text, one sentence a line, of any system", .value = "[NAME=]FILE"});
  options.add(
      "model", settings.model,
      {.help = "a run directory or checkpoint that first translates the set of --corpus", .value = "[NAME=]RUN"});
  options.group("What it is compared with");
  options.add("references", settings.references,
              {.help = "reference translations, raw text; several are several references", .value = "FILE"});
  options.add("source", settings.source, {.help = "the source text, for --bucket-by source", .value = "FILE"});
  options.add(
      "corpus", settings.corpus,
      {.help = "a prepared corpus, in place of files: its sets hold raw references, sources, and which sentences have "
               "unknown words",
       .value = "FILE"});
  options.add("set", settings.set, {.help = "its set: dev, or test/NAME", .value = "SET"});
  options.group("How");
  options.add("tokenizer", settings.bleu.tokenizer, text::bleu_tokenizer_of, text::name_of,
              {.help = "of BLEU", .choices = {"13a", "intl", "char", "zh", "none"}});
  options.add("smoothing", settings.bleu.smoothing, evaluate::smoothing_of, evaluate::name_of,
              {.help = "of BLEU", .choices = {"exp", "floor", "add-k", "none"}});
  options.add("smooth-value", settings.bleu.smooth_value, {.help = "of floor [0.1] and add-k [1]", .low = 0});
  options.add("lowercase", settings.bleu.lowercase, {.help = "compare lower-cased text"});
  options.add("chrf", settings.buckets.chrf, {.help = "chrF and chrF++ of all sentences besides"});
  options.add("bucket-by", settings.buckets.length, evaluate::length_of, evaluate::name_of,
              {.help = "whose words put a sentence into its bucket", .choices = {"reference", "source"}});
  options.add("edges", settings.buckets.edges, {.help = "the largest length of each bucket; one more lies above"});
  options.add("bootstrap", settings.buckets.bootstrap.samples,
              {.help = "samples for the 95% intervals; 0: none", .low = 0, .high = 1e6});
  options.add("seed", settings.buckets.bootstrap.seed, {.help = "of the bootstrap"});
  options.add("json", settings.json, {.help = "print JSON instead of a table"});
  add_translation_options(options, settings.translation);
  options.group("Machine");
  add_threads(options, settings.threads);
  add_precision(options, settings.precision);
}

void check(const Settings& settings) {
  if (settings.hypotheses.empty() && settings.model.empty()) {
    throw Error("nothing to score: give --hypotheses FILE, or --model RUN with --corpus");
  }
  if (settings.corpus.empty()) {
    if (!settings.model.empty()) throw Error("--corpus is missing: --model translates one of its sets");
    if (settings.references.empty()) {
      throw Error("nothing to compare with: give --references FILE, or --corpus with --set");
    }
    if (!settings.set.empty()) throw Error("--set names a set of --corpus, which is missing");
    if (settings.buckets.length == evaluate::LengthOf::kSource && settings.source.empty()) {
      throw Error("--source is missing: --bucket-by source counts its words");
    }
  } else {
    if (settings.set.empty()) throw Error("--set is missing: dev or test/NAME, a set of --corpus");
    if (!settings.references.empty() || !settings.source.empty()) {
      throw Error("--references and --source are not for --corpus, whose sets hold both");
    }
  }
}

}  // namespace

int run_evaluate(const Arguments& arguments) {
  Settings settings;
  Options options(
      "evaluate",
      "BLEU, and chrF if wanted, as sacreBLEU computes them, over all sentences and by their length, with 95% "
      "bootstrap intervals; of "
      "any number of systems side by side. Models translate on all ranks under mpirun. SIGTERM or SIGUSR1: it ends "
      "with code 85 after the sentences under way, and prints nothing.");
  declare(options, settings);
  if (!options.parse(arguments)) return 0;
  check(settings);

  const comm::Communicator world;
  check_same_options(world, options);
  settle_threads(settings.threads, world);
  if (!settings.model.empty()) set_precision(settings.precision, world);
  Test test;
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> systems;
  agree(world, {"the texts to compare", "", [&] {
                  if (!world.is_root()) return std::string();
                  test = test_of(settings);
                  for (const std::string& text : settings.hypotheses) {
                    const auto [name, path] = named(text);
                    names.push_back(name);
                    systems.push_back(read_lines(path));
                    check_same_lines(path, systems.back().size(), test.place, test.references.front().size());
                  }
                  return std::string();
                }});
  for (const std::string& text : settings.model) {
    const auto [name, path] = named(text);
    auto loaded = open_model(path, world);
    Progress progress(!world.is_root());
    const auto translations = translate_lines(
        loaded, test.sources, settings.translation, world, [&, system = name](std::size_t done, std::size_t all) {
          progress.show(text_of("[evaluate] ", system, ": ", 100 * done / std::max<std::size_t>(all, 1), "%"));
        });
    if (signal_came_anywhere(world)) throw Stopped("a signal asked to stop; nothing was evaluated");
    names.push_back(name);
    auto& lines = systems.emplace_back();
    for (const auto& best : translations) lines.push_back(best.front().text);
  }
  if (!world.is_root()) return 0;

  std::vector<evaluate::Evaluation> evaluations;
  for (std::size_t i = 0; i < systems.size(); ++i) {
    if (signal_came()) throw Stopped("a signal asked to stop; nothing was printed");
    evaluations.push_back(evaluate::evaluate_by_length(
        {names[i], systems[i], test.references, test.sources, test.known ? &*test.known : nullptr}, settings.bleu,
        settings.buckets));
  }
  if (settings.json) {
    Json result = Json::array();
    for (const auto& evaluation : evaluations) result.push_back(evaluate::to_json(evaluation));
    std::cout << result.dump(2) << "\n";
  } else {
    std::cout << evaluate::render_table(evaluations);
  }
  return 0;
}

}  // namespace rnnsearch::cli
