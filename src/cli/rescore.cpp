#include "rnnsearch/cli/command.h"

#include <fmt/format.h>

#include "cli/options/common.h"
#include "cli/options/translation_options.h"
#include "cli/progress.h"
#include "cli/resumable_output.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/text_lines.h"
#include "rnnsearch/decode/translate_lines.h"
#include "rnnsearch/evaluate/n_best_list.h"
#include "rnnsearch/train/run_directory.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;
using evaluate::Hypothesis;
using evaluate::NBestList;

struct Settings {
  LineLimit line_limit;
  fs::path list, source, output, n_best_output;
  std::vector<std::string> model;
  fs::path weights;
  std::vector<std::string> weight;
  std::size_t batch_sentences = 80;
  ThreadOptions threads;
  std::string precision;

  bool ranks() const { return !weights.empty() || !weight.empty(); }
};

/// Those of --weight. Throws UsageError for a text that is not NAME=NUMBER, and for a feature that has two.
std::vector<evaluate::FeatureWeight> given_weights(const Settings& s) {
  std::vector<evaluate::FeatureWeight> given;
  for (const std::string& text : s.weight) {
    const std::size_t equals = text.rfind('=');
    double number = 0;
    if (equals == std::string::npos || equals == 0 || !value::read(text.substr(equals + 1), number))
      throw UsageError("--weight is '{}' but must be NAME=X, a feature and a number", printable(text));
    const std::string name = text.substr(0, equals);
    if (std::ranges::any_of(given, [&](const auto& one) { return one.first == name; }))
      throw UsageError("--weight is given twice for {}; give each feature one weight", printable(name));
    given.emplace_back(name, number);
  }
  return given;
}

/// The weight of each feature of the list: that of --weight, otherwise that of --weights, otherwise 0. Throws Error as
/// evaluate::weights_of and evaluate::read_weights.
std::vector<double> read_weights(const Settings& s, const NBestList& list) {
  std::vector<evaluate::FeatureWeight> all;
  if (!s.weights.empty()) {
    const auto lines = corpus::read_lines(s.weights, s.line_limit);
    all = evaluate::read_weights(fmt::to_string(fmt::join(lines, "\n")), s.weights.string());
  }
  const auto given = given_weights(s);
  all.insert(all.end(), given.begin(), given.end());
  return evaluate::weights_of(list, s.list.string(), all);
}

void declare(Options& options, Settings& s) {
  options.group("Files");
  options.add("list", s.list, kInputFile, kRequired,
              "n-best list to read, as translate --n-best-format moses or json writes it");
  options.add("source", s.source, kBasic, kInputFile,
              "source sentences of the list, one per line; needed with --model");
  options.add(
      "model", s.model, kBasic, Placeholder{"[NAME=]RUN"}, kNamedRun,
      "run directory (its best checkpoint, otherwise its latest) or checkpoint file that scores every translation; its "
      "log-probability becomes the feature NAME [the name of the run]. Models need no common vocabulary");
  declare(options, s.line_limit);
  options.group("Ranking");
  options.add("weights", s.weights, kBasic, kInputFile,
              "weights of the features, a JSON file {\"weights\": {\"Name\": number}}; features without a weight have "
              "the weight 0");
  options.add("weight", s.weight, kBasic, Placeholder{"NAME=X"},
              "weight of one feature; takes precedence over --weights");
  options.group("Results");
  options.add("output", s.output, kBasic, kOutputText,
              "file for the translation of each line with the largest weighted sum [standard output, if there are "
              "weights and no --n-best-output]");
  options.add("n-best-output", s.n_best_output, kOutputText,
              "file for the n-best list with the added features, ranked if there are weights [standard output, if "
              "there are no weights]");
  options.group("Machine");
  options.add("batch-sentences", s.batch_sentences, within(1, 100000),
              "number of translations that a rank scores together; more take more memory");
  add_threads(options, s.threads);
  add_precision(options, s.precision, ModelUse::kTrained);
}

void check(const Options& options, Settings& s) {
  options.refuse(s.model.empty(), {"precision", "batch-sentences"}, "--{0} is for --model; leave it out");
  if (s.model.empty() && !s.ranks())
    throw UsageError(
        "nothing to do: give --model to add features, or --weights or --weight to rank by those there are");
  if (!s.model.empty() && s.source.empty()) throw UsageError("--source is missing: --model scores translations of it");
  if (!s.output.empty() && !s.ranks())
    throw UsageError(
        "--output is for the best translations, which --weights or --weight say; --n-best-output is for the list");
  if (s.output.empty() && s.n_best_output.empty()) (s.ranks() ? s.output : s.n_best_output) = "-";
  (void)given_weights(s);
}

/// Every translation of the list with its source line, in the order of the list; throws Interrupted when a stop signal
/// came.
std::vector<decode::WordPair> pairs_of(const NBestList& list, std::span<const std::string> sources,
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

int work(const Options& options, Settings& s, const comm::Communicator& communicator) {
  settle_threads(s.threads, communicator);
  set_precision(s.precision, communicator);
  NBestList list;
  std::vector<std::string> sources, names;
  std::vector<double> weights;
  for (const std::string& model : s.model) names.push_back(named_path(model).name);
  root_reads({s.list, s.source, s.weights}, s.threads.stall_timeout, communicator, [&] {
    list = evaluate::read_n_best_list(corpus::read_lines(s.list, s.line_limit), s.list.string(), stop_if_signal_came);
    if (!s.source.empty()) {
      sources = corpus::read_lines(s.source, s.line_limit);
      evaluate::check_line_count(list, s.list.string(), sources.size(), s.source.string());
    }
    evaluate::check_feature_names(list, names);
    NBestList with_models;
    with_models.features = list.features;
    with_models.features.insert(with_models.features.end(), names.begin(), names.end());
    weights = read_weights(s, with_models);
  });
  std::vector<train::LoadedModel> models;
  for (const std::string& model : s.model) models.push_back(train::open_model(named_path(model).path, communicator));

  Progress progress(!communicator.is_root());
  std::optional<ResumableOutput> sink;
  std::size_t list_output = 0;  // its number in `sink`; that of the best translations is 0
  // What line `i` of the source gives depends on these lines.
  const auto input_line = [&](std::size_t i) {
    std::string text = sources.empty() ? "" : sources[i];
    for (const Hypothesis& hypothesis : list.lines[i]) text += "\t" + hypothesis.record;
    return text;
  };
  comm::root_does(communicator, [&] {
    Config dependencies =
        dependencies_of(options, {"list", "source", "output", "n-best-output", "model", "batch-sentences", "weights"});
    for (std::size_t m = 0; m < models.size(); ++m) dependencies["--model " + names[m]] = models[m].digest;
    for (std::size_t k = 0; k < weights.size(); ++k)
      dependencies[fmt::format("weight {}", k + 1)] = value::write(weights[k]);
    std::vector<OutputPath> outputs;
    if (!s.output.empty()) outputs.push_back({"--output", s.output});
    list_output = outputs.size();
    if (!s.n_best_output.empty()) outputs.push_back({"--n-best-output", s.n_best_output});
    sink.emplace(std::move(outputs), std::move(dependencies));
    sink->skip(s.list.string(), [&, i = std::size_t{0}]() mutable {
      return i < list.lines.size() ? std::optional(input_line(i++)) : std::nullopt;
    });
    if (sink->lines() > 0) progress.say(fmt::format("[rescore] continues after source line {}", sink->lines()));
  });

  std::array<std::uint64_t, 2> range{sink ? sink->lines() : 0, list.lines.size()};
  communicator.broadcast(std::span<std::uint64_t>(range));
  for (std::size_t first = range[0]; first < range[1];) {
    // Portions depend on the list alone, so that an interrupted command has the bits of an undisturbed one.
    NBestList portion{list.format, list.features, list.features_read, {}};
    for (std::size_t i = first, count = 0; i < list.lines.size() && count < 16 * s.batch_sentences; ++i) {
      count += list.lines[i].size();
      portion.lines.push_back(list.lines[i]);
    }
    std::uint64_t lines = portion.lines.size();
    communicator.broadcast(std::span(&lines, 1));
    for (std::size_t m = 0; m < models.size(); ++m) {
      std::vector<decode::WordPair> pairs;
      if (communicator.is_root()) {
        decode::until_stopped(
            [&] { pairs = pairs_of(portion, std::span(sources).subspan(first, lines), translator_of(models[m])); });
      }
      const auto scores =
          decode::score_pairs(models[m].model, pairs, s.batch_sentences, communicator, [&](std::size_t) {
            progress.show(fmt::format("[rescore] {}: {} of {} source lines", names[m], first, range[1]));
          });
      if (comm::stop_signal_came_anywhere(communicator)) throw comm::Stopped(sink ? sink->stopped() : "");
      decode::refuse_nan(communicator, decode::first_nan(scores), {fmt::format("--model {}: {}", s.model[m], s.list)});
      if (!communicator.is_root()) continue;
      std::vector<double> values;
      values.reserve(scores.size());
      for (const auto& score : scores) values.push_back(*score);
      evaluate::add_feature(portion, names[m], values);
    }
    for (std::size_t i = 0; communicator.is_root() && i < lines; ++i) {
      const auto& line = portion.lines[i];
      const auto order = evaluate::ranking(line, weights);
      if (!s.output.empty()) sink->write(0, line[order.front()].text + "\n");
      for (std::size_t rank = 0; !s.n_best_output.empty() && rank < order.size(); ++rank) {
        const Hypothesis& hypothesis = line[order[rank]];
        const auto score =
            s.ranks() ? std::optional(evaluate::weighted_sum(hypothesis.features, weights)) : std::nullopt;
        sink->write(list_output, evaluate::written(portion, hypothesis, rank, score) + "\n");
      }
      sink->end_line(input_line(first + i));
    }
    if (sink) sink->commit();
    first += lines;
  }
  if (sink) sink->publish();
  return 0;
}

}  // namespace

std::unique_ptr<Invocation> make_rescore() {
  return invocation_of<Settings>(
      {"rescore",
       "Scores the translations of an n-best list with further models (forced decoding, as score does), each of which "
       "adds a feature to the list, and ranks the translations by a weighted sum of all features. The models may be of "
       "any kind: right-to-left, with other subwords, or without attention. Without weights the command prints the "
       "list, with weights the best translations. Under mpirun the translations are distributed over the ranks. After "
       "SIGTERM or SIGUSR1 the command ends with exit code 85. If its outputs are files, the same command then "
       "continues, also after a crash and on another number of ranks.",
       "--list test.n-best --source test.en --model reversed=runs/reversed --weight LogProbability=1 --weight "
       "reversed=0.5"},
      declare, check, work);
}

}  // namespace rnnsearch::cli
