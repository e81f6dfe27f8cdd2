// How a model is trained. Defaults are RNNsearch-50 of Bahdanau, Cho and Bengio (2015), as its code (GroundHog) trained
// it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "rnnsearch/base/option.h"
#include "rnnsearch/model/options.h"

namespace rnnsearch::train {

enum class Shuffle { kEveryEpoch, kOnce, kNever };
constexpr auto names_of(Shuffle) {
  return std::array{Named{Shuffle::kEveryEpoch, "every-epoch"}, Named{Shuffle::kOnce, "once"},
                    Named{Shuffle::kNever, "never"}};
}
enum class BatchOrder { kShuffled, kByLength };
constexpr auto names_of(BatchOrder) {
  return std::array{Named{BatchOrder::kShuffled, "shuffled"}, Named{BatchOrder::kByLength, "by-length"}};
}
enum class OptimizerKind { kAdadelta, kAdam, kSgd };
constexpr auto names_of(OptimizerKind) {
  return std::array{Named{OptimizerKind::kAdadelta, "adadelta"}, Named{OptimizerKind::kAdam, "adam"},
                    Named{OptimizerKind::kSgd, "sgd"}};
}
enum class GradientOf { kSum, kSentence, kWord };
constexpr auto names_of(GradientOf) {
  return std::array{Named{GradientOf::kSum, "sum"}, Named{GradientOf::kSentence, "sentence"},
                    Named{GradientOf::kWord, "word"}};
}
enum class Schedule { kConstant, kInverseSquareRoot, kPlateau, kHalving };
constexpr auto names_of(Schedule) {
  return std::array{Named{Schedule::kConstant, "constant"}, Named{Schedule::kInverseSquareRoot, "inverse-square-root"},
                    Named{Schedule::kPlateau, "plateau"}, Named{Schedule::kHalving, "halving"}};
}
enum class BestMetric { kLoss, kBleu };
constexpr auto names_of(BestMetric) {
  return std::array{Named{BestMetric::kLoss, "loss"}, Named{BestMetric::kBleu, "bleu"}};
}
enum class ReducePrecision { kFloat32, kBfloat16 };
constexpr auto names_of(ReducePrecision) {
  return std::array{Named{ReducePrecision::kFloat32, "f32"}, Named{ReducePrecision::kBfloat16, "bf16"}};
}

struct TrainOptions {
  std::uint64_t batch_sentences = 80;  // pairs in an update, all ranks together (GroundHog: bs)
  /// Pieces into which each rank cuts its share of a batch, computed one after the other: less memory, the same sum
  /// but for its rounding.
  std::uint64_t accumulate = 1;
  std::uint64_t pool_batches = 20;  // batches sorted by length together (GroundHog: sort_k_batches)
  /// Whether each epoch has an order of its own, or all have that of the first (paper, appendix B.2: "shuffled once"),
  /// or that of the corpus.
  Shuffle shuffle = Shuffle::kEveryEpoch;
  /// Of the batches that were sorted by length together: random, or short sentences first (GroundHog:
  /// get_homogenous_batch_iter).
  BatchOrder batch_order = BatchOrder::kShuffled;
  std::uint64_t seed = 1;  // of the weights and of the order of the data
  bool prefetch = true;    // read sentences on a thread of its own; the batches are the same without

  OptimizerKind optimizer = OptimizerKind::kAdadelta;  // paper, appendix B.2
  double learning_rate = 1;                            // Adadelta has none: 1
  double rho = 0.95;                                   // Adadelta (paper, appendix B.2)
  double epsilon = 1e-6;                               // Adadelta (paper, appendix B.2)
  double adam_beta1 = 0.9;                             // Kingma and Ba (2015), algorithm 1
  double adam_beta2 = 0.999;                           // the same
  double adam_epsilon = 1e-8;                          // the same
  /// Of stochastic gradient descent: mu of Sutskever, Martens, Dahl and Hinton (2013), section 2. 0: plain.
  double momentum = 0;

  /// What the clip sees and the optimiser follows: the sum over all words of the batch (GroundHog), or that sum divided
  /// by the pairs, or by the target words, of the global batch.
  GradientOf gradient_of = GradientOf::kSum;
  /// E of Szegedy et al. (2016), section 7: the gradient follows the cross entropy with (1 - E) onehot(target) + E / K.
  /// Losses that are reported stay the plain ones. 0: none.
  double label_smoothing = 0;
  double clip_norm = 1;  // largest norm of the gradient (paper, appendix B.2: 1); 0: no clip
  /// Of a moving average of the parameters (parameter_average.h), which is what is validated, and what a checkpoint
  /// translates with. Training goes on from the parameters themselves. 0: none.
  double average_decay = 0;
  std::uint64_t max_skipped = 20;  // updates in a row that may be skipped because their gradient is not finite

  /// Sums of the gradient over the ranks begin as soon as a part of it is known, while the rest is computed. The bits
  /// are the same without.
  bool overlap = true;
  /// What travels in these sums; all additions are in float32. With bfloat16, half the bytes: what a rounding takes
  /// away is kept and added to the next sum (error feedback: Seide et al. 2014, section 3), which a checkpoint does not
  /// keep, so a run that was interrupted then differs in its last bits from one that was not.
  ReducePrecision reduce_precision = ReducePrecision::kFloat32;

  Schedule schedule = Schedule::kConstant;
  std::uint64_t warmup_updates = 0;    // linear from 0, in every schedule; where the inverse square root begins to fall
  std::uint64_t plateau_patience = 1;  // validations without a lower dev loss until the learning rate is halved
  /// Of the schedule halving, in passes over the corpus, fractions too: halved once after so many, and again after
  /// each of `halve_every_epochs` more (Luong, Pham and Manning 2015, section 4.1: 5, with dropout 8; every one).
  double halve_after_epochs = 5;
  double halve_every_epochs = 1;

  std::uint64_t max_updates = 0;  // 0: no limit (likewise below). The first limit reached ends the training
  std::uint64_t max_epochs = 0;
  double max_minutes = 0;                 // of training, over all attempts, validation included
  std::uint64_t early_stop_patience = 0;  // validations without gain in best_metric
  BestMetric best_metric = BestMetric::kLoss;
  std::uint64_t validate_every = 1000;  // updates; 0: never

  std::uint64_t checkpoint_every = 1000;  // updates; 0: only by the clock
  double checkpoint_minutes = 15;         // since the last one; 0: only by updates
  std::uint64_t keep_checkpoints = 2;     // the newest, and the best besides; at least 2
  std::uint64_t log_every = 10;           // updates
  std::string resume = "auto";  // auto: from the newest checkpoint if there is one; never; or a checkpoint's path
};

/// The rows of all options, in the order of --help.
std::span<const Option<TrainOptions>> option_table();

/// Throws Error for a number out of its bounds, and for a combination that makes no sense.
void check(const TrainOptions& options);

using rnnsearch::Config;

Config config_of(const model::ModelOptions& options);
Config config_of(const TrainOptions& options);
/// The same configuration with each option under the name that it has today.
Config with_names_of_today(Config config);
/// Throws Error naming the option that is missing or unreadable.
model::ModelOptions model_options_of(const Config& config);
/// Throws Error, naming `file`, for the configuration of a checkpoint whose parameters mean something else than the
/// same options mean today: a model with a fixed context from before there was the option fixed-context. It had the
/// layer context/V, which is no part of RNNencdec.
void refuse_outdated(const Config& config, const std::string& file);
/// A checkpoint's configuration, with the defaults of the options that are younger than it.
Config completed(Config config);

/// The options that decide which numbers a run computes: a run directory, or a checkpoint, goes on only with the same.
/// (Limits, learning rate, clip and intervals may change from one attempt to the next.)
Config identity_of(const model::ModelOptions& model, const TrainOptions& options);

}  // namespace rnnsearch::train
