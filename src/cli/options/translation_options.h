// The models of a command, one or an ensemble, and how they search.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "rnnsearch/base/line_source.h"
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

  /// Of the files of the models, with spaces between them.
  std::string digests() const;
  /// Refers to this object, which outlives it.
  decode::Translator translator();

 private:
  std::vector<train::LoadedModel> loaded_;
  std::vector<double> weights_;
  decode::EnsembleMean mean_;
};

/// Declares them, in a group of their own; n-best is left to the command.
void add_translation_options(Options& options, decode::TranslationOptions& translation);
/// Declares --maximum-source-length, of commands that translate lines of text.
void add_maximum_source_length(Options& options, decode::TranslationOptions& translation);
/// "2 lines have more than 1000 words and were translated in parts", for `lines` of them; empty if there are none.
std::string sentence_of_parts(std::size_t lines, const decode::TranslationOptions& translation);
/// After parsing. Throws UsageError for those that exclude each other.
void check_translation_options(const Options& options, const decode::TranslationOptions& translation);

/// The parts of a checkpoint that translate. `loaded` outlives the result.
inline decode::Translator translator_of(train::LoadedModel& loaded) {
  return {loaded.model, loaded.source_vocabulary, loaded.target_vocabulary, loaded.pipeline};
}

/// Those of --copy-pattern. Throws UsageError for what is not a pattern.
text::CopyPatterns copy_patterns_from(const std::vector<std::string>& patterns);

}  // namespace rnnsearch::cli
