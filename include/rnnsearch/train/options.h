// How a model is trained. Defaults are RNNsearch-50 of Bahdanau, Cho and Bengio (2015), as its code (GroundHog) trained
// it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "rnnsearch/base/option.h"
#include "rnnsearch/model/options.h"

namespace rnnsearch::train {

enum class Shuffle { kEveryEpoch, kOnce, kNever };
constexpr auto names_of(Shuffle) { return in_order<Shuffle>({"every-epoch", "once", "never"}); }
enum class BatchOrder { kShuffled, kByLength, kCurriculum };
constexpr auto names_of(BatchOrder) { return in_order<BatchOrder>({"shuffled", "by-length", "curriculum"}); }
enum class OptimizerKind { kAdadelta, kAdam, kSgd };
constexpr auto names_of(OptimizerKind) { return in_order<OptimizerKind>({"adadelta", "adam", "sgd"}); }
enum class GradientOf { kSum, kSentence, kWord };
constexpr auto names_of(GradientOf) { return in_order<GradientOf>({"sum", "sentence", "word"}); }
enum class Schedule { kConstant, kInverseSquareRoot, kPlateau, kHalving };
constexpr auto names_of(Schedule) {
  return in_order<Schedule>({"constant", "inverse-square-root", "plateau", "halving"});
}
enum class ScaleLearningRate { kNone, kLinear, kSquareRoot };
constexpr auto names_of(ScaleLearningRate) { return in_order<ScaleLearningRate>({"none", "linear", "square-root"}); }
enum class BestMetric { kLoss, kBleu, kChrf, kTer };
constexpr auto names_of(BestMetric) { return in_order<BestMetric>({"loss", "bleu", "chrf", "ter"}); }

struct TrainOptions {
  std::uint64_t batch_sentences = 80;  // sentence pairs in an update, over all ranks (GroundHog: bs)
  Ramp batch_words = 0;                // if not 0, the size of an update in padded words (corpus/batches.h)
  /// Each rank computes its share of a batch in this many pieces, one after the other. More pieces need less memory;
  /// the sum of their gradients is the same except for rounding.
  std::uint64_t accumulate = 1;
  std::uint64_t pool_batches = 20;  // number of batches that are sorted by length together (GroundHog: sort_k_batches)
  /// every-epoch: each epoch reads the corpus in a new random order. once: all epochs have the order of the first
  /// (paper, appendix B.2: "shuffled once"). never: the order of the corpus.
  Shuffle shuffle = Shuffle::kEveryEpoch;
  /// The order in which batches that were sorted by length together are used: random, or short sentences first
  /// (GroundHog: get_homogenous_batch_iter), or by a curriculum (corpus/batches.h).
  BatchOrder batch_order = BatchOrder::kShuffled;
  std::uint64_t seed = 1;  // for the initial parameters and the order of the data
  bool prefetch = true;    // read sentences ahead on a separate thread; the batches are the same with and without

  OptimizerKind optimizer = OptimizerKind::kAdadelta;  // paper, appendix B.2
  double learning_rate = 1;                            // Adadelta has none, which is 1
  double rho = 0.95;                                   // Adadelta (paper, appendix B.2)
  double epsilon = 1e-6;                               // Adadelta (paper, appendix B.2)
  double adam_beta1 = 0.9;                             // Kingma and Ba (2015), algorithm 1
  double adam_beta2 = 0.999;                           // the same
  double adam_epsilon = 1e-8;                          // the same
  /// Momentum of stochastic gradient descent: mu of Sutskever, Martens, Dahl and Hinton (2013), section 2. 0: none.
  double momentum = 0;

  /// The loss whose gradient is clipped and given to the optimiser. sum: over all words of the global batch
  /// (GroundHog). sentence: that sum divided by the number of pairs. word: divided by the number of target words.
  GradientOf gradient_of = GradientOf::kSum;
  /// Epsilon of Szegedy et al. (2016), section 7: the gradient is that of the cross entropy with
  /// (1 - epsilon) onehot(target) + epsilon / K. Reported losses are without smoothing. 0: none.
  Ramp label_smoothing;
  /// If not 0, the softmax of training sums over this number of target words or a few more, which are those of
  /// consecutive batches (corpus/batches.h).
  std::uint64_t sampled_softmax = 0;
  /// The weight of the alignment cost of Chen, Matusov, Khadivi and Peter (2016), see model::GuidedAlignment; that of
  /// the cross entropy is 1. Reported losses are without it. 0: none.
  Ramp guided_alignment;
  double clip_norm = 1;  // a gradient of a larger norm is scaled to this norm (paper, appendix B.2: 1); 0: never
  /// The decay of a moving average of the parameters (optimizer.h). If it is not 0, the average is what is
  /// validated and what translates; training itself continues with the parameters. 0: no average.
  double average_decay = 0;
  std::uint64_t max_skipped = 20;  // how many consecutive updates may be skipped because their gradient is not finite

  /// Begin the all-reduce of each part of the gradient as soon as that part is computed, while the rest is computed.
  /// The bits are the same with and without.
  bool overlap = true;
  /// If not 0, the number of shards of each batch (pair i belongs to shard i mod S). The gradient of each is computed
  /// alone, and they are added in the order of comm/shard_tree.h, so that any number of ranks that divides this one
  /// computes the same bits.
  std::uint64_t reproducible_shards = 0;

  /// If not none, learning_rate is that of batches of reference_batch sentence pairs (with batch_words: words), and it
  /// is multiplied by the ratio of the sizes, or by its square root (optimizer.h).
  ScaleLearningRate scale_learning_rate = ScaleLearningRate::kNone;
  std::uint64_t reference_batch = 0;

  Schedule schedule = Schedule::kConstant;
  std::uint64_t warmup_updates =
      0;  // the rate rises linearly from 0 during these; with inverse-square-root it falls after them
  std::uint64_t plateau_patience = 1;  // validations without a lower dev loss before the rate is halved
  /// Schedule halving: the rate is halved after halve_after_epochs and then after every further halve_every_epochs.
  /// Both may be fractions (Luong, Pham and Manning 2015, section 4.1: after 5 epochs, with dropout 8, and then every
  /// epoch).
  double halve_after_epochs = 5;
  double halve_every_epochs = 1;

  std::uint64_t max_updates = 0;  // training ends at the first limit that is reached; 0: no limit
  std::uint64_t max_epochs = 0;
  double max_minutes = 0;                 // of training and validation, over all attempts of a run
  std::uint64_t early_stop_patience = 0;  // validations without a better best_metric
  BestMetric best_metric = BestMetric::kLoss;
  std::uint64_t validate_every = 1000;  // updates; 0: by time alone, if at all
  double validate_minutes = 0;          // since the last validation; 0: by updates alone
  double validation_share = 0;          // of the time of an attempt that validations may take; 0: no limit

  std::uint64_t checkpoint_every = 1000;  // updates; 0: only by time
  double checkpoint_minutes = 15;         // since the last checkpoint; 0: only by updates
  bool synchronous_checkpoints = false;   // written while training waits, in place of in the background from a copy
  std::uint64_t keep_checkpoints = 2;     // this many of the newest are kept, and also the best; at least 2
  std::uint64_t log_every = 10;           // updates
  std::string resume = "auto";            // where an empty run begins: auto, never, or a checkpoint's path
  std::string initial_model;              // run or checkpoint whose parameters a new run begins with; empty: none
  bool initial_optimizer = false;         // whether it begins with the optimizer's state of that checkpoint, too
};

/// All options, in the order of --help.
void declare(OptionList& options, TrainOptions& o);

/// Throws Error for a number out of its bounds, and for a combination that makes no sense.
void check(const TrainOptions& options);

/// Whether a training with these options validates, given a dev set.
constexpr bool validates(const TrainOptions& options) {
  return options.validate_every > 0 || options.validate_minutes > 0;
}

/// Throws Error unless the shards can be divided evenly among this number of ranks.
void check_ranks(const TrainOptions& options, int ranks);
/// The number of shards of each rank; 1 without shards. It is also the number of consecutive pairs of a batch that a
/// rank gets at a time.
std::uint64_t shards_of_rank(const TrainOptions& options, int ranks);
/// Throws Error for a training that makes no sense with this model.
void check(const TrainOptions& options, const model::ModelOptions& model);

using rnnsearch::Config;

Config config_of(model::ModelOptions options);
Config config_of(TrainOptions options);
/// Throws Error naming the option that is missing or unreadable.
model::ModelOptions model_options_of(const Config& config);
/// The options that are Later::kFixed, all of the model's among them: a run resumes only with the same values.
Config identity_of(const model::ModelOptions& model, TrainOptions options);

}  // namespace rnnsearch::train
