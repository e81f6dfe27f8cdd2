// A checkpoint (*.h5): self-contained, written whole or not at all. Layout: the drawing in src/train/checkpoint.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/base/json.h"
#include "rnnsearch/corpus/batches.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/kernels/precision.h"
#include "rnnsearch/model/model.h"
#include "rnnsearch/storage/hdf5.h"
#include "rnnsearch/train/optimizer.h"
#include "rnnsearch/train/options.h"
#include "rnnsearch/train/schedule.h"

namespace rnnsearch::train {

/// The last version of the format that is read here. What is written is the first that can say it.
inline constexpr std::int64_t kCheckpointVersion = 3;

/// Everything besides weights and optimiser that a resumed run needs to repeat the uninterrupted one bit for bit.
struct TrainingState {
  std::uint64_t update = 0;
  corpus::DataPosition position;  // after that update
  Plateau plateau;                // of the schedule
  double best_score = 0;          // of the best validation, as `best_metric` counts; meaningful if best_update > 0
  std::uint64_t best_update = 0;
  std::uint64_t validations_without_gain = 0;
  std::uint64_t validated_update = 0;  // of the last validation: one that a signal cut short is made up for
  double elapsed_seconds = 0;          // of training, over all attempts
  std::uint64_t skipped_updates = 0;   // non-finite gradients
  std::uint64_t skipped_in_a_row = 0;
  std::uint64_t world_size = 1;  // informative only
  std::string corpus_fingerprint;
};

Json json_of(const TrainingState& state);
TrainingState training_state_of(const Json& json);

struct History {
  struct Update {  // one a logged update
    std::uint64_t update = 0;
    double loss_per_word = 0, learning_rate = 0, target_words_per_second = 0;
  };
  struct Validation {
    std::uint64_t update = 0;
    double loss_per_word = 0, bleu = 0;  // bleu: NaN when it was not computed
  };
  std::vector<Update> updates;
  std::vector<Validation> validations;
};

/// All that a checkpoint is made of; views of what the trainer owns.
struct CheckpointSource {
  const model::Model<float>& model;
  Optimizer& optimizer;  // read only, but for rows that catch up
  const TrainingState& state;
  const History& history;
  const corpus::Vocabulary& source_vocabulary;
  const corpus::Vocabulary& target_vocabulary;
  const corpus::TextPipeline& pipeline;
  const TrainOptions& options;
  std::span<const float> average{};  // of the parameters (parameter_average.h); empty: none
};

/// Writes to a temporary, verifies, renames. Records kernels::precision() among the options. Throws Error (a full disk
/// included); a former file then stands as it was.
void save_checkpoint(const std::filesystem::path& path, const CheckpointSource& source);

/// Fills weights, accumulators, step count and history, and `average` unless it is empty: from the file's, or, with a
/// line in the log, from the weights if it has none. Returns the state. Verifies the digest before HDF5 parses
/// anything. Throws Error, in one sentence, for a file that is missing, truncated, damaged, of another kind or a newer
/// version, for other model options or another optimiser (naming the option and both values), and for another corpus.
TrainingState resume_checkpoint(const std::filesystem::path& path, const std::string& corpus_fingerprint,
                                const TrainOptions& options, model::Model<float>& model, Optimizer& optimizer,
                                History& history, std::span<float> average = {});

/// In which it was trained; kFloat32 when it was written before there was a choice. Errors as resume_checkpoint.
kernels::Precision precision_of(const std::filesystem::path& checkpoint);

/// The parameters that a model of the options `config` has, in whose shapes `group` of a checkpoint ("parameters",
/// "average") holds them. Throws Error when one is missing or has another shape.
model::ParameterLayout check_parameters(const storage::File& file, const std::string& group, const Config& config);

/// What translate, score and evaluate need of a checkpoint.
struct LoadedModel {
  model::Model<float> model;
  corpus::Vocabulary source_vocabulary, target_vocabulary;
  corpus::TextPipeline pipeline;
  Config config;  // option name -> value, as text
  std::uint64_t update = 0;
};

/// The model's parameters are the moving average where the checkpoint has one, else the parameters.
/// Errors as resume_checkpoint. `poll` is called now and then while the digest reads; what it throws ends the reading.
LoadedModel load_model(const std::filesystem::path& checkpoint, const std::function<void()>& poll = {});

}  // namespace rnnsearch::train
