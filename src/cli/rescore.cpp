#include "cli/commands.h"

#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "cli/named_path.h"
#include "cli/precision.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/translation_options.h"
#include "cli/weights.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/output_file.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/text_lines.h"
#include "rnnsearch/decode/score_pairs.h"
#include "rnnsearch/decode/spread.h"
#include "rnnsearch/evaluate/n_best_list.h"
#include "rnnsearch/train/shared_files.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;
using evaluate::Hypothesis;
using evaluate::NBestList;

struct Settings {
  LineLimit line_limit;
  fs::path list, source, output, n_best_output;
  std::vector<std::string> model;
  WeightOptions weights;
  std::size_t batch_sentences = 80;
  ThreadOptions threads;
  std::string precision;

  bool ranks() const { return !weights.file.empty() || !weights.weight.empty(); }
};

void declare(Options& options, Settings& settings) {
  options.group("Files");
  options.add("list", settings.list,
              {.help = "n-best list to read, as translate --n-best-format moses or json writes it",
               .value = "FILE",
               .required = true});
  options.add("source", settings.source,
              {.help = "source sentences of the list, one per line, or a WMT test set (FILE.sgm, FILE.xml); needed "
                       "with --model",
               .value = "FILE"});
  options.add("model", settings.model,
              {.help = "run directory (its best checkpoint, otherwise its latest) or checkpoint file that scores every "
                       "translation; its log-probability becomes the feature NAME [the name of the run]. Models need "
                       "no common vocabulary",
               .value = "[NAME=]RUN"});
  options.take(line_limit_table(), settings.line_limit);
  options.group("Ranking");
  add_weights(options, settings.weights,
              "weights of the features, a JSON file that tune wrote; features without a weight have the weight 0");
  options.group("Results");
  options.add("output", settings.output,
              {.help = "file for the translation of each line with the largest weighted sum; - is standard output "
                       "[standard output, if there are weights and no --n-best-output]",
               .value = "FILE|-"});
  options.add("n-best-output", settings.n_best_output,
              {.help = "file for the n-best list with the added features, ranked if there are weights; - is standard "
                       "output [standard output, if there are no weights]",
               .value = "FILE|-"});
  options.group("Machine");
  options.add(
      "batch-sentences", settings.batch_sentences,
      {.help = "number of translations that a rank scores together; more take more memory", .low = 1, .high = 100000});
  add_threads(options, settings.threads);
  add_precision(options, settings.precision, ModelUse::kTrained);
}

void check(const Options&, Settings& settings) {
  if (settings.model.empty() && !settings.ranks()) {
    throw UsageError(
        "nothing to do: give --model to add features, or --weights or --weight to rank by those there are");
  }
  if (!settings.model.empty() && settings.source.empty()) {
    throw UsageError("--source is missing: --model scores translations of it");
  }
  if (!settings.output.empty() && !settings.ranks()) {
    throw UsageError(
        "--output is for the best translations, which --weights or --weight say; --n-best-output is for "
        "the list");
  }
  if (settings.output.empty() && settings.n_best_output.empty()) {
    (settings.ranks() ? settings.output : settings.n_best_output) = "-";
  }
  if (settings.output.lexically_normal() == settings.n_best_output.lexically_normal()) {
    throw UsageError(text_of("--output and --n-best-output both go to ",
                             settings.output == "-" ? "standard output" : settings.output.string(),
                             "; name a file for each"));
  }
  (void)given_weights(settings.weights);
}

void open(std::optional<OutputFile>& file, const std::string& option, const fs::path& path) {
  if (!path.empty()) file.emplace(option, path == "-" ? fs::path() : path, std::cout);
}

/// Every translation of the list with its source line, in the order of the list; throws Interrupted when a stop signal
/// came.
std::vector<decode::WordPair> pairs_of(const NBestList& list, const std::vector<std::string>& sources,
                                       const decode::Translator& translator) {
  std::vector<decode::WordPair> pairs;
  for (std::size_t i = 0; i < list.lines.size(); ++i) {
    stop_if_signal_came();
    std::vector<std::string> spans;
    const auto source =
        decode::ids_of(decode::source_words(translator, sources[i], spans), translator.source_vocabulary);
    for (const Hypothesis& hypothesis : list.lines[i]) {
      const auto target = decode::target_words(translator, hypothesis.text, spans);
      pairs.push_back({source, decode::ids_of(target, translator.target_vocabulary)});
    }
  }
  return pairs;
}

int work(const Options& options, Settings& settings) {
  const auto given = given_weights(settings.weights);

  const comm::Communicator world;
  check_same_options(world, options);
  settle_threads(settings.threads, world);
  set_precision(settings.precision, world);
  NBestList list;
  std::vector<std::string> sources, names;
  std::vector<double> weights;
  std::optional<OutputFile> best_file, list_file;
  for (const std::string& model : settings.model) names.push_back(named_path(model).name);
  {
    std::vector<fs::path> texts{settings.list};
    if (!settings.source.empty()) texts.push_back(settings.source);
    if (!settings.weights.file.empty()) texts.push_back(settings.weights.file);
    const PatienceForPipes patience(texts, settings.threads.stall_timeout, world);
    comm::root_does(world, [&] {
      list = read_list(settings.list, settings.line_limit);
      if (!settings.source.empty()) {
        sources = corpus::read_lines(settings.source, corpus::TestSetPart::kSource, settings.line_limit);
        evaluate::check_line_count(list, settings.list.string(), sources.size(), settings.source.string());
      }
      evaluate::check_feature_names(list, names);
      NBestList with_models;
      with_models.features = list.features;
      with_models.features.insert(with_models.features.end(), names.begin(), names.end());
      weights = read_weights(settings.weights, given, with_models, settings.list.string(), settings.line_limit);
      open(best_file, "--output", settings.output);
      open(list_file, "--n-best-output", settings.n_best_output);
    });
  }
  std::vector<train::LoadedModel> models;
  for (const std::string& model : settings.model) models.push_back(train::open_model(named_path(model).path, world));

  Progress progress(!world.is_root());
  for (std::size_t m = 0; m < models.size(); ++m) {
    std::vector<decode::WordPair> pairs;
    if (world.is_root()) decode::until_stopped([&] { pairs = pairs_of(list, sources, translator_of(models[m])); });
    const auto scores =
        decode::score_pairs(models[m].model, pairs, settings.batch_sentences, world, [&](std::size_t done) {
          progress.show(text_of("[rescore] ", names[m], ": ", done, " of ", pairs.size(), " translations"));
        });
    if (comm::stop_signal_came_anywhere(world)) throw comm::Stopped();
    decode::refuse_nan(world, decode::first_nan(scores),
                       {text_of("--model ", settings.model[m], ": ", settings.list.string())});
    if (!world.is_root()) continue;
    std::vector<double> values;
    values.reserve(scores.size());
    for (const auto& score : scores) values.push_back(*score);
    evaluate::add_feature(list, names[m], values);
  }
  if (!world.is_root()) return 0;

  for (const auto& line : list.lines) {
    const auto order = evaluate::ranking(line, weights);
    if (best_file) best_file->write(line[order.front()].text + "\n");
    for (std::size_t rank = 0; list_file && rank < order.size(); ++rank) {
      const Hypothesis& hypothesis = line[order[rank]];
      const auto score =
          settings.ranks() ? std::optional(evaluate::weighted_sum(hypothesis.features, weights)) : std::nullopt;
      list_file->write(evaluate::written(list, hypothesis, rank, score) + "\n");
    }
  }
  for (auto* const file : {&best_file, &list_file}) {
    if (*file) (*file)->publish();
  }
  return 0;
}

}  // namespace

std::unique_ptr<Invocation> make_rescore() {
  return std::make_unique<InvocationOf<Settings>>(
      "rescore",
      "Scores the translations of an n-best list with further models (forced decoding, as score does), each of which "
      "adds a feature to the list, and ranks the translations by a weighted sum of all features. The models may be "
      "of any kind: right-to-left, with other subwords, or without attention. Without weights the command prints the "
      "list, with weights the best translations; tune fits weights. Under mpirun the translations are distributed "
      "over the ranks. After SIGTERM or SIGUSR1 the command ends with exit code 85 and writes nothing.",
      Steps<Settings>{declare, check, work});
}

}  // namespace rnnsearch::cli
