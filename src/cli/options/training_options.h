// What is trained, and how: the options of `train`, which `benchmark` takes as well, and the corpora of --mix.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/validation.h"
#include "rnnsearch/cli/options.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/corpus/mixture.h"
#include "rnnsearch/model/options.h"
#include "rnnsearch/train/options.h"

namespace rnnsearch::cli {

struct TrainingSettings {
  model::ModelOptions model;  // without the sizes of the vocabularies
  train::TrainOptions train;
  ValidationOptions validation;
  std::optional<double> stop_before;  // minutes; see rnnsearch/train/job_end.h
};
/// Declares them in groups of their own: all that a preset or a configuration file of a training may hold, but files.
void add_training_options(Options& options, TrainingSettings& settings);

/// Declares --mix FILE:WEIGHT in the group at hand.
void add_mixture(Options& options, std::vector<std::string>& mix);

/// The corpus of a FILE:WEIGHT. Throws UsageError for a text that is not that.
std::vector<std::filesystem::path> path_without_weight(const std::string& text);
inline constexpr Path kWeightedFile{.kind = Path::kInputFile, .in = path_without_weight};

/// The corpora that --mix names.
class Mixture {
 public:
  /// COLLECTIVE. Opens the corpora as train::open_corpus does, and makes the names in `mix` absolute. Throws
  /// AgreedError as corpus::check_mixture does. `first`, the corpus of --corpus, must outlive this object.
  Mixture(std::vector<std::string>& mix, const corpus::Corpus& first, const comm::Communicator& communicator);
  Mixture(const Mixture&) = delete;
  Mixture& operator=(const Mixture&) = delete;

  std::span<const corpus::MixedCorpus> others() const { return others_; }
  /// Whether pairs of some corpus, the first one included, have links.
  bool has_alignments() const;
  /// What to tell the user of each corpus.
  std::vector<std::string> lines() const;

 private:
  const corpus::Corpus& first_;
  std::vector<corpus::Corpus> corpora_;
  std::vector<corpus::MixedCorpus> others_;
};

}  // namespace rnnsearch::cli
