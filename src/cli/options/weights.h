// N-best lists and the weights of their features, as commands read them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rnnsearch/base/line_source.h"
#include "rnnsearch/cli/options.h"
#include "rnnsearch/evaluate/n_best_list.h"

namespace rnnsearch::cli {

/// --weights and --weight.
struct WeightOptions {
  std::filesystem::path file;
  std::vector<std::string> weight;
};
/// Declares them in the group at hand. `help`: of --weights.
void add_weights(Options& options, WeightOptions& weights, const std::string& help);

/// Those of --weight. Throws UsageError for a text that is not NAME=NUMBER, and for a feature that has two.
std::vector<evaluate::FeatureWeight> given_weights(const WeightOptions& weights);

/// The weight of each feature of the list: that of --weight, otherwise that of --weights, otherwise 0. Throws Error as
/// evaluate::weights_of and evaluate::read_weights.
std::vector<double> read_weights(const WeightOptions& weights, const std::vector<evaluate::FeatureWeight>& given,
                                 const evaluate::NBestList& list, const std::string& list_name, const LineLimit& limit);

/// The list in a file, plain or compressed. Throws Error as corpus::read_lines and evaluate::read_n_best_list;
/// Interrupted when a stop signal came.
evaluate::NBestList read_list(const std::filesystem::path& path, const LineLimit& limit);

}  // namespace rnnsearch::cli
