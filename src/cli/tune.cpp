#include "cli/commands.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/weights.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/number_text.h"
#include "rnnsearch/base/output_file.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/corpus/text_lines.h"
#include "rnnsearch/evaluate/mert.h"
#include "rnnsearch/evaluate/n_best_list.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

struct Settings {
  LineLimit line_limit;
  fs::path list, output;
  std::vector<std::string> references;
  WeightOptions start;
  evaluate::MertOptions mert;
  std::optional<std::size_t> threads;
};

void declare(Options& options, Settings& settings) {
  options.group("Files");
  options.add("list", settings.list,
              {.help = "n-best list of the dev set, as rescore --n-best-output or translate --n-best-format writes it",
               .value = "FILE",
               .required = true});
  options.add("references", settings.references,
              {.help = "reference translations of the dev set, raw text; repeat it for several references",
               .value = "FILE",
               .required = true});
  options.add("output", settings.output,
              {.help = "JSON file for the weights, which rescore --weights reads", .value = "FILE", .required = true});
  options.take(line_limit_table(), settings.line_limit);
  options.group("Start");
  add_weights(options, settings.start,
              "weights to begin with, such as those of an earlier tuning [1 for LogProbability, 0 for others]");
  options.group("Search");
  options.add("restarts", settings.mert.restarts,
              {.help = "number of further searches, from random weights", .low = 0, .high = 10000});
  options.add(
      "random-directions", settings.mert.random_directions,
      {.help = "number of random directions searched in each round, besides the axes", .low = 0, .high = 10000});
  options.add("seed", settings.mert.seed, {.help = "random seed of weights and directions"});
  options.group("Metric");
  options.add("tokenizer", settings.mert.bleu.tokenizer, {.help = "tokenizer of BLEU, as in sacreBLEU"});
  options.add("smoothing", settings.mert.bleu.smoothing, {.help = "BLEU smoothing method, as in sacreBLEU"});
  options.add("lowercase", settings.mert.bleu.lowercase, {.help = "compare lower-cased text"});
  options.group("Machine");
  options.add("threads", settings.threads,
              {.help = "number of threads; affects speed, not the result [the CPUs it may use]",
               .recorded = false,
               .low = 1,
               .high = 4096});
}

std::vector<std::vector<std::string>> read_references(const Settings& settings, const evaluate::NBestList& list) {
  std::vector<std::vector<std::string>> references;
  for (const std::string& path : settings.references) {
    references.push_back(corpus::read_lines(path, corpus::TestSetPart::kReference, settings.line_limit));
    evaluate::check_line_count(list, settings.list.string(), references.back().size(), path);
  }
  return references;
}

evaluate::Candidates candidates_of(evaluate::NBestList& list, const std::vector<std::vector<std::string>>& references,
                                   const evaluate::BleuOptions& bleu) {
  evaluate::Candidates candidates(list.lines.size());
  parallel_for(list.lines.size(), [&](std::size_t i) {
    std::vector<std::string_view> of_line;
    of_line.reserve(references.size());
    for (const auto& lines : references) of_line.push_back(lines[i]);
    for (evaluate::Hypothesis& hypothesis : list.lines[i]) {
      candidates[i].push_back(
          {std::move(hypothesis.features), evaluate::sentence_statistics(hypothesis.text, of_line, bleu)});
    }
  });
  return candidates;
}

/// The weights to begin with.
std::vector<double> start_of(const Settings& settings, const evaluate::NBestList& list) {
  auto weights = given_weights(settings.start);
  if (settings.start.file.empty() && weights.empty()) {
    if (list.features.empty()) {
      throw Error(text_of(settings.list.string(),
                          " has no features to tune; take a list that translate "
                          "--n-best-format moses or json, or rescore, wrote"));
    }
    const auto named = std::find(list.features.begin(), list.features.end(), "LogProbability");
    weights.emplace_back(named == list.features.end() ? list.features.front() : *named, 1.0);
  }
  return read_weights(settings.start, weights, list, settings.list.string(), settings.line_limit);
}

void check(const Options&, Settings& settings) {
  (void)given_weights(settings.start);
}

int work(const Options&, Settings& settings) {
  if (settings.threads) set_thread_count(*settings.threads);
  evaluate::NBestList list = read_list(settings.list, settings.line_limit);
  const auto references = read_references(settings, list);
  const auto start = start_of(settings, list);
  OutputFile file("--output", settings.output, std::cout);
  std::size_t hypotheses = 0;
  for (const auto& line : list.lines) hypotheses += line.size();
  const auto candidates = candidates_of(list, references, settings.mert.bleu);
  // Without weights all are equally good, so that the first ones win.
  const std::vector<double> none(start.size());
  const double first = evaluate::bleu_of(evaluate::statistics_of_best(candidates, none), settings.mert.bleu).score;
  const auto tuned = evaluate::tune(candidates, start, settings.mert);

  const std::string signature = evaluate::signature(settings.mert.bleu, references.size());
  Json json = Json::object(), weights = Json::object();
  for (std::size_t k = 0; k < list.features.size(); ++k) weights[list.features[k]] = tuned.weights[k];
  json["weights"] = std::move(weights);
  json["bleu"] = tuned.bleu;
  json["start_bleu"] = tuned.start_bleu;
  json["signature"] = signature;
  json["seed"] = settings.mert.seed;
  file.write(json.dump(2) + "\n");
  file.publish();

  std::cout << counted(list.lines.size(), "line") << ", " << hypotheses << " translations, "
            << counted(list.features.size(), "feature") << ", " << grouped(tuned.line_searches) << " line searches\n"
            << "BLEU " << fixed(first, 2) << " of the first translation of each line, " << fixed(tuned.start_bleu, 2)
            << " at the start, " << fixed(tuned.bleu, 2) << " with the tuned weights (" << signature << ")\n";
  for (std::size_t k = 0; k < list.features.size(); ++k) {
    std::cout << "  " << printable(list.features[k]) << " " << fixed(tuned.weights[k], 6) << "\n";
  }
  return 0;
}

}  // namespace

std::unique_ptr<Invocation> make_tune() {
  return std::make_unique<InvocationOf<Settings>>(
      "tune",
      "Fits the weights of the features of an n-best list, so that the best translations of a dev set "
      "have the largest BLEU: minimum error rate training (Och 2003), with an exact search along each "
      "axis and along random directions, and restarts. The result depends only on the files, the options "
      "and --seed. Prints BLEU at the start and at the end, and the weights.",
      Steps<Settings>{declare, check, work});
}

}  // namespace rnnsearch::cli
