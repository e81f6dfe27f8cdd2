// Checkpoints (*.h5) are self-contained and appear atomically. Their layout is documented in src/train/checkpoint.cpp.
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
#include "rnnsearch/model/model.h"
#include "rnnsearch/storage/hdf5.h"
#include "rnnsearch/train/optimizer.h"
#include "rnnsearch/train/options.h"

namespace rnnsearch::train {

/// Sums over the updates since the last logged one.
struct LogInterval {
  std::uint64_t updates = 0, pairs = 0, source_words = 0, target_words = 0;
  double negative_log_likelihood = 0, words = 0;  // of the applied updates only
  double data_seconds = 0, compute_seconds = 0, communication_seconds = 0, optimizer_seconds = 0;
  double reduction_seconds = 0;  // time with a gradient reduction in progress, overlapped with computation or not
  std::uint64_t bytes_sent = 0;  // bytes that the root sent in gradient reductions
};

/// Seconds of training time, over all attempts.
struct ValidationTimes {
  double ended = 0, spent = 0, last = 0;  // when the last complete one ended; what all took, and what the last one took
};

/// Everything besides weights and optimiser that a resumed run needs to repeat the uninterrupted one bit for bit.
struct TrainingState {
  std::uint64_t update = 0;
  corpus::DataPosition position;  // position in the data after `update`
  Plateau plateau;                // state of the plateau schedule
  double best_score = 0;          // best validation score in terms of `best_metric`; meaningful if best_update > 0
  std::uint64_t best_update = 0;
  Patience patience;                   // state of early stopping
  std::uint64_t validated_update = 0;  // update of the last complete validation; an interrupted one is repeated
  /// What the scores of best, plateau and patience were measured by: "bleu on dev set 1f..., beam 1".
  std::string measured_by;
  ValidationTimes validations;
  std::uint64_t former_checkpoint = 0;  // update of the checkpoint that the training wrote or read before this one
  double elapsed_seconds = 0;           // training time over all attempts
  std::uint64_t skipped_updates = 0;    // updates skipped because of a non-finite gradient
  std::uint64_t skipped_in_a_row = 0;
  std::uint64_t world_size = 1;  // for information only
  std::string corpus_fingerprint;
  LogInterval interval;
};

/// All fields by their names in the file.
Json json_of(const TrainingState& state);
/// All fields as bytes, for the other ranks of the same program, and back.
std::string packed(const TrainingState& state);
TrainingState training_state_of(const std::string& packed);

struct History {
  struct Update {  // one for each logged update
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

/// The content of a checkpoint: its small parts, and views of what is large or never changes, which others own.
struct CheckpointSource {
  struct Accumulator {
    std::string name;  // as in Optimizer::Accumulator
    std::span<const float> values;
  };

  /// Completes the deferred updates of the optimizer (Optimizer::accumulators). `moving_average`
  /// (ParameterAverage) is empty if the training keeps none.
  CheckpointSource(const model::Model& model, Optimizer& optimizer, const TrainingState& training_state,
                   const History& training_history, const corpus::Vocabulary& words_of_source,
                   const corpus::Vocabulary& words_of_target, const corpus::TextPipeline& text_pipeline,
                   const TrainOptions& train_options, std::span<const float> moving_average = {});

  // What no update changes.
  const model::ModelOptions& model_options;
  const model::ParameterLayout& layout;
  const corpus::Vocabulary& source_vocabulary;
  const corpus::Vocabulary& target_vocabulary;
  const corpus::TextPipeline& pipeline;
  const TrainOptions& options;

  TrainingState state;
  History history;
  std::uint64_t optimizer_steps;

  std::span<const float> parameters, average;
  std::vector<Accumulator> accumulators;
};

/// The libraries that results of this program depend on, with their versions, for records:
/// "Highway 1.0.3, oneTBB 2021.8, HDF5 1.10.8, Open MPI v4.1.4, ICU 72.1, SentencePiece 0.1.97".
std::string libraries();

/// Writes a temporary file, verifies it, calls `check` and renames it to `path`. Records kernels::arithmetic() among
/// the options. Throws Error, for example for a full disk and for weights that are NaN or infinite, from which training
/// could not be resumed; an existing file then stays unchanged.
void save_checkpoint(const std::filesystem::path& path, const CheckpointSource& source,
                     const std::function<void()>& check = {});

/// Reads a checkpoint into weights, accumulators, step count and history, and returns the training state. If `average`
/// is not empty, it is read too, or initialised with the weights (and a log line) if the file holds no average. The
/// digest is verified before HDF5 parses the file. Throws Error for a file that is missing, truncated, damaged, not a
/// checkpoint or of another version, for different model options or another optimiser (the message names the option and
/// both values), and for another corpus.
TrainingState resume_checkpoint(const std::filesystem::path& path, const std::string& corpus_fingerprint,
                                const TrainOptions& options, model::Model& model, Optimizer& optimizer,
                                History& history, std::span<float> average = {});

/// The digest of the parameters, in 32 hexadecimal digits: XXH3-128 over the name of each, in the order of the names, a
/// NUL byte and its floats row by row. Models with the same digest translate alike.
std::string digest_of(const model::Model& model);

/// The kernels::arithmetic() of the checkpoint's last update. Throws Error as resume_checkpoint does.
std::string arithmetic_of(const std::filesystem::path& checkpoint);

/// Returns the parameter layout of a model with the options `config`, after checking that `group` of the checkpoint
/// ("parameters" or "average") holds every parameter in that shape. Throws Error if one is missing or has another
/// shape.
model::ParameterLayout check_parameters(const storage::File& file, const std::string& group, const Config& config);

/// What translate, score and evaluate need from a checkpoint.
struct LoadedModel {
  model::Model model;
  corpus::Vocabulary source_vocabulary, target_vocabulary;
  corpus::TextPipeline pipeline;
  Config config;  // option name -> value as text
  std::uint64_t update = 0;
  std::string digest{};  // of the file
};

/// Loads a model for inference. Its weights are the moving average if the checkpoint holds one, otherwise the last
/// parameters. Throws Error as resume_checkpoint does. `poll` is called now and then while the digest is computed; an
/// exception that it throws ends the reading.
LoadedModel load_model(const std::filesystem::path& checkpoint, const std::function<void()>& poll = {});

/// The mean of the parameters of several checkpoints of one training, which often translates better than the last
/// checkpoint (Junczys-Dowmunt, Dwojak and Sennrich 2016).
struct Averaged {
  std::vector<std::string> checkpoints;  // file names, newest first
  std::uint64_t update = 0;              // update of the newest checkpoint
  std::uint64_t parameters = 0;          // number of parameters averaged
};

/// Writes the mean of /parameters, summed in double, as a checkpoint without optimiser and history: it can translate,
/// but training cannot be resumed from it. Moving averages that the checkpoints may hold are ignored. The attribute
/// average_of of the output names the averaged files and their digests. Memory: three times the largest parameter. The
/// output appears atomically, after it is complete. Throws Error for fewer than two checkpoints, for a checkpoint that
/// is given twice, is itself an average or cannot be read, for checkpoints of different trainings (the message names
/// the difference), with `successive` for checkpoints between which the training wrote others that are gone, and for an
/// existing output unless `overwrite` is set.
Averaged average_checkpoints(std::span<const std::filesystem::path> checkpoints, const std::filesystem::path& output,
                             bool overwrite, bool successive = false);

}  // namespace rnnsearch::train
