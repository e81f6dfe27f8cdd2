// The models of a command: one, or an ensemble.
#pragma once

#include <string>
#include <vector>

#include "rnnsearch/cli/options.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/decode/ensemble.h"
#include "rnnsearch/decode/translate_lines.h"
#include "rnnsearch/train/checkpoint.h"

namespace rnnsearch::cli {

struct ModelChoice {
  std::vector<std::string> model, model_weight;
  decode::EnsembleMean ensemble_mean = decode::EnsembleMean::kProbabilities;
};

/// Declares --model, --ensemble-of and --model-weight.
void add_models(Options& options, ModelChoice& choice);
/// After parsing. Throws UsageError for weights that are no weights or of which there are too many or too few, and for
/// options of ensembles with one model.
void check_models(const Options& options, const ModelChoice& choice);

class OpenModels {
 public:
  /// COLLECTIVE. Opens all of them, as train::open_model. Throws AgreedError if two of them have different
  /// vocabularies or text pipelines, naming both. REQUIRES: check_models.
  OpenModels(const ModelChoice& choice, const comm::Communicator& communicator);

  /// COLLECTIVE. Lets the models copy what these patterns match, in place of those of their corpus. Throws AgreedError
  /// for models without placeholders.
  void copy(const text::CopyPatterns& patterns);

  /// Refers to this object, which outlives it.
  /// Of the files of the models, with spaces between them.
  std::string digests() const;
  decode::Translator translator();

 private:
  std::vector<train::LoadedModel> loaded_;
  std::vector<double> weights_;
  decode::EnsembleMean mean_;
};

}  // namespace rnnsearch::cli
