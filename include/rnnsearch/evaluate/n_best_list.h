// N-best lists: translations of each source line with numbers called features, whose weighted sum ranks the
// translations (a log-linear model; Och and Ney 2002, Discriminative training and maximum entropy models for
// statistical machine translation).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rnnsearch::evaluate {

/// moses: `line ||| text ||| features ||| score`, where features are "Name= value" and more fields may follow. A name
/// with several values, as Moses's own lists have them, gives the features Name.1, Name.2 and so on.
///
/// json: an object on each line, as `translate --n-best-format json` writes it. Its parts of the score have the names
/// that they have in the other format (log_probability is LogProbability), and an object "features" holds further ones.
enum class ListFormat { kMoses, kJson };

struct Hypothesis {
  std::string text;
  std::vector<double> features;  // [NBestList::features], of magnitudes up to 1e100
  std::string record;            // the line of the file
};

struct NBestList {
  ListFormat format = ListFormat::kMoses;
  std::vector<std::string> features;           // their names, in the order of the file, then those that were added
  std::size_t features_read = 0;               // those of the file
  std::vector<std::vector<Hypothesis>> lines;  // [source line][rank], at least one translation each
};

/// Reads the lines of a list. The format is that of the first one. `name` is that of the file in errors; `check_stop`
/// is called for each line and may throw. Throws Error (file, line) for a malformed line, for source lines that do not
/// count 0, 0, 1, 1, ... without gaps, for numbers that are not finite or larger than 1e100, and for a translation
/// whose features have other names than those of the first one.
NBestList read_n_best_list(std::span<const std::string> lines, const std::string& name,
                           const std::function<void()>& check_stop = {});

/// Throws Error unless the list has translations of exactly so many source lines. `other`: the file with these lines.
void check_line_count(const NBestList& list, const std::string& name, std::size_t lines, const std::string& other);

/// Throws Error for a name that the formats cannot hold, and for one that the list or `added` has already.
void check_feature_names(const NBestList& list, std::span<const std::string> added);

/// Appends a feature, with a value for each hypothesis in the order of the file. REQUIRES: check_feature_names passed,
/// and `values` are as many as hypotheses.
void add_feature(NBestList& list, const std::string& name, std::span<const double> values);

/// The record of a hypothesis with the features that were added, in the shortest digits that read back as the same
/// bits, and with `score` in place of its score if given. JSON also gets the rank, which counts from 0 here.
std::string written(const NBestList& list, const Hypothesis& hypothesis, std::size_t rank,
                    const std::optional<double>& score);

using FeatureWeight = std::pair<std::string, double>;

/// The weight of each feature of the list, 0 for those without one; the last one of several of a name. Throws Error for
/// a weight of a feature that the list does not have. `name`: of the list.
std::vector<double> weights_of(const NBestList& list, const std::string& name, std::span<const FeatureWeight> weights);

/// The sum of features[k] weights[k], added in this order.
double weighted_sum(std::span<const double> features, std::span<const double> weights);

/// The numbers of the hypotheses by falling weighted sum. Equal ones keep their order.
std::vector<std::size_t> ranking(std::span<const Hypothesis> hypotheses, std::span<const double> weights);

/// Weights as a file: a JSON object with a member "weights", which has a number for each feature. Other members are
/// ignored. `name` is that of the file in errors. Throws Error for anything else.
std::vector<FeatureWeight> read_weights(const std::string& text, const std::string& name);

}  // namespace rnnsearch::evaluate
