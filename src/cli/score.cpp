#include "cli/score.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <numeric>

#include "cli/precision.h"
#include "cli/progress.h"
#include "cli/text_lines.h"
#include "cli/translation.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/kernels/parallel.h"

namespace rnnsearch::cli {

int run_score(const Arguments& arguments) {
  std::filesystem::path model, source_path, target_path;
  std::size_t threads = 0, batch_sentences = 80;
  std::string precision;
  bool json = false;
  Options options(
      "score",
      "Says how probable a model finds given translations: for each line the natural logarithm of the probability "
      "of the target, its end included, given the source.");
  options.group("Files");
  options.add("model", model,
              {.help = "a run directory (its best checkpoint, else its latest) or a checkpoint",
               .value = "RUN|FILE",
               .required = true});
  options.add("source", source_path, {.help = "source sentences, one a line", .value = "FILE", .required = true});
  options.add("target", target_path, {.help = "their translations", .value = "FILE", .required = true});
  options.add("json", json, {.help = "one JSON object with all scores, their sum and the perplexity"});
  options.group("Machine");
  options.add("batch-sentences", batch_sentences, {.help = "pairs scored together", .low = 1, .high = 100000});
  add_threads(options, threads);
  add_precision(options, precision);
  if (!options.parse(arguments)) return 0;
  kernels::set_threads(threads);
  set_precision(precision);

  const auto sources = read_lines(source_path), targets = read_lines(target_path);
  check_same_lines(source_path, sources.size(), target_path, targets.size());
  auto loaded = train::load_model(checkpoint_of(model));
  Sentences source, target;
  for (const auto& line : sources) source.add(ids_of(loaded.pipeline.to_words(line), loaded.source_vocabulary));
  for (const auto& line : targets) target.add(ids_of(loaded.pipeline.to_words(line), loaded.target_vocabulary));
  std::vector<std::size_t> order(source.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return target.length(a) > target.length(b); });
  std::vector<double> scores(source.size());
  Progress progress;
  for (std::size_t first = 0; first < order.size(); first += batch_sentences) {
    const std::size_t count = std::min(batch_sentences, order.size() - first);
    Sentences batch_source, batch_target;
    for (std::size_t i = 0; i < count; ++i) {
      batch_source.add(source[order[first + i]]);
      batch_target.add(target[order[first + i]]);
    }
    const auto batch = loaded.model.score(batch_source, batch_target);
    for (std::size_t i = 0; i < count; ++i) scores[order[first + i]] = batch[i];
    progress.show(text_of("[score] ", first + count, " of ", order.size(), " pairs"));
  }

  if (!json) {
    for (const double score : scores) {
      char text[32];
      std::snprintf(text, sizeof text, "%.6f\n", score);
      std::cout << text;
    }
    return 0;
  }
  const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
  const std::size_t words = target.words.size() + target.size();  // </s> counted
  Json result = Json::object();
  result["log_probability"] = sum;
  result["target_words"] = words;
  result["perplexity"] = std::exp(-sum / static_cast<double>(words));
  result["lines"] = Json::array({scores.begin(), scores.end()});
  std::cout << result.dump(2) << "\n";
  return 0;
}

}  // namespace rnnsearch::cli
