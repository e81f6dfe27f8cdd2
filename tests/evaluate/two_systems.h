// The output of two systems on one test set, for tests of what an evaluation is written as.
#pragma once

#include "rnnsearch/evaluate/evaluation.h"
#include "rnnsearch/text/unicode.h"
#include "tests/support/test.h"

namespace rnnsearch::evaluate {

struct TwoSystems {
  std::vector<std::vector<std::string>> references{std::vector<std::string>(120, "a b c d e")};
  std::vector<std::string> sources = std::vector<std::string>(121, "s");
  std::vector<std::string> right, wrong;
  std::vector<double> unknown_shares = std::vector<double>(121, 0.5);
  std::vector<std::uint64_t> rarest_words = std::vector<std::uint64_t>(121, 12);
  WordFrequencies frequencies{[](std::string_view line) { return text::split_words(line); },
                              [](std::string_view word) { return std::uint64_t{word == "a" ? 0U : 20U}; }};

  TwoSystems() {
    references[0].push_back("a b c d e f g h i j k");
    right = wrong = references[0];
    for (std::string& line : wrong) line += " z";
  }
  Evaluation evaluate(const EvaluationOptions& options) const {
    const SystemOutput systems[] = {{"RNNsearch", right}, {"Système 2", wrong}};
    return evaluate::evaluate({"test/news", references, sources, unknown_shares, rarest_words, frequencies}, systems,
                              options);
  }
};

inline EvaluationOptions with_edges() {
  EvaluationOptions options;
  options.edges = {10, 20};
  return options;
}

}  // namespace rnnsearch::evaluate
