#include "cli/options/weights.h"

#include <algorithm>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/corpus/text_lines.h"

namespace rnnsearch::cli {

void add_weights(Options& options, WeightOptions& weights, const std::string& help) {
  options.add("weights", weights.file, kBasic, kInputFile, help);
  options.add("weight", weights.weight, kBasic, Placeholder{"NAME=X"},
              "weight of one feature; takes precedence over --weights");
}

std::vector<evaluate::FeatureWeight> given_weights(const WeightOptions& weights) {
  std::vector<evaluate::FeatureWeight> given;
  for (const std::string& text : weights.weight) {
    const std::size_t equals = text.rfind('=');
    double number = 0;
    if (equals == std::string::npos || equals == 0 || !value::read(text.substr(equals + 1), number))
      throw UsageError("--weight is '{}' but must be NAME=X, a feature and a number", printable(text));
    const std::string name = text.substr(0, equals);
    if (std::any_of(given.begin(), given.end(), [&](const auto& one) { return one.first == name; }))
      throw UsageError("--weight is given twice for {}; give each feature one weight", printable(name));
    given.emplace_back(name, number);
  }
  return given;
}

std::vector<double> read_weights(const WeightOptions& weights, const std::vector<evaluate::FeatureWeight>& given,
                                 const evaluate::NBestList& list, const std::string& list_name,
                                 const LineLimit& limit) {
  std::vector<evaluate::FeatureWeight> all;
  if (!weights.file.empty()) {
    std::string text;
    const auto lines = corpus::read_lines(weights.file, limit);
    for (const std::string& line : lines) text += line + "\n";
    all = evaluate::read_weights(text, weights.file.string());
  }
  all.insert(all.end(), given.begin(), given.end());
  return evaluate::weights_of(list, list_name, all);
}

evaluate::NBestList read_list(const std::filesystem::path& path, const LineLimit& limit) {
  return evaluate::read_n_best_list(corpus::read_lines(path, limit), path.string(), stop_if_signal_came);
}

}  // namespace rnnsearch::cli
