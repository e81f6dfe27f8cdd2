// A checkpoint (*.h5): self-contained, written whole or not at all. Layout: see the drawing in src/train/checkpoint.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/corpus/batches.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/model/model.h"

namespace rnnsearch::train {

/// Everything besides weights and optimiser that a resumed run needs to repeat the uninterrupted one bit for bit.
struct TrainingState {
  std::uint64_t update = 0;
  corpus::DataPosition position;
  double learning_rate_factor = 1;       // of the plateau schedule
  double best_score = 0;                 // of the best validation, in the direction of `best_metric`; meaningful if best_update > 0
  std::uint64_t best_update = 0;
  std::uint64_t validations_without_gain = 0;
  double elapsed_seconds = 0;            // of training, over all attempts
  std::uint64_t skipped_updates = 0;     // non-finite gradients
  std::uint64_t world_size = 1;          // informative only
  std::string corpus_fingerprint;
};

struct History {  // one row a logged update, one a validation
  struct Update { std::uint64_t update; double loss_per_word, learning_rate, target_words_per_second; };
  struct Validation { std::uint64_t update; double loss_per_word, bleu; };
  std::vector<Update> updates;
  std::vector<Validation> validations;
};

/// What translate, score and evaluate need of a checkpoint.
struct LoadedModel {
  model::Model<float> model;
  corpus::Vocabulary source_vocabulary, target_vocabulary;
  corpus::TextPipeline pipeline;
  std::map<std::string, std::string> config;  // option name -> value, as text
  std::uint64_t update = 0;
};

/// Verifies the digest before HDF5 parses anything. Throws Error for a file that is missing, truncated, damaged, of another
/// kind, or of a newer version.
LoadedModel load_model(const std::filesystem::path& checkpoint);

}  // namespace rnnsearch::train
