// What is trained, and how: the options of `train`, which `benchmark` takes as well, the validation (dev loss, BLEU,
// chrF and TER of a model in training, on all ranks), and the corpora of --mix.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/cli/options.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/corpus/mixture.h"
#include "rnnsearch/model/options.h"
#include "rnnsearch/train/options.h"
#include "rnnsearch/train/trainer.h"

namespace rnnsearch::cli {

struct ValidationOptions {
  bool validate_bleu = true;            // translate the dev set, too, for BLEU and chrF
  bool ter = false;                     // TER of these translations, which takes much longer than BLEU and chrF
  std::size_t validate_beam = 1;        // 1: greedy, which is enough to compare checkpoints by
  std::size_t validate_sentences = 64;  // together, on each rank
  bool same_on_any_ranks = false;       // the bits of the result do not depend on the number of ranks
};

struct TrainingSettings {
  model::ModelOptions model;  // without the sizes of the vocabularies
  train::TrainOptions train;
  ValidationOptions validation;
  std::optional<double> stop_before;  // minutes; see rnnsearch/train/trainer.h
};
/// Declares them in groups of their own: all that a preset or a configuration file of a training may hold, but files.
void add_training_options(Options& options, TrainingSettings& settings);

/// What the scores of make_validator by `metric` depend on besides the model: "dev set DIGEST", with a beam for metrics
/// of translations.
std::string dev_set_of(const corpus::Corpus& corpus, const ValidationOptions& options, train::BestMetric metric);

/// The dev sentence that is shown in translation, one of median length. REQUIRES: a sentence.
std::size_t example_of(const Sentences& source);

/// Each rank takes every size-th sentence of the dev set, sorted by length, or, with same_on_any_ranks, every size-th
/// group of validate_sentences of them. `corpus` and `communicator` outlive the validator.
/// At the root `keep` gets the translations, one line a sentence, and `show` that of example_of. Throws Error when the
/// corpus has no dev set.
train::Validator make_validator(const corpus::Corpus& corpus, const comm::Communicator& communicator,
                                const ValidationOptions& options,
                                std::function<void(std::uint64_t update, const std::string& translations)> keep,
                                std::function<void(const std::string& translation)> show);

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
