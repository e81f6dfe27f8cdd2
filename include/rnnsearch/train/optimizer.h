// Optimisers: they turn a gradient into an update of the parameters. All operations are elementwise over fixed blocks,
// so the result does not depend on the number of threads. And what goes with an update: learning rate, moving average.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/train/options.h"

namespace rnnsearch::train {

/// The elements that a thread takes at a time: 64 KiB of each array of floats, which fits into the L2 cache.
inline constexpr std::size_t kBlock = 16384;

/// The squared Euclidean norm, summed in double precision over fixed blocks in a fixed order. It is not finite if and
/// only if some element is not finite, because squares of floats cannot overflow a double.
double squared_norm_of(std::span<const float> gradient);

/// The sparse gradient of a table [table_rows, cols] (an embedding): it is zero except in the listed rows.
struct TableGradient {
  std::size_t offset = 0;  // offset of the table in the parameter block
  std::size_t table_rows = 0, cols = 0;
  std::span<const WordId> words;  // the rows with a gradient, in ascending order
  std::span<const float> rows;    // [words, cols], their gradients
};

class Optimizer {
 public:
  struct Accumulator {
    std::string name;         // its name in a checkpoint: /optimizer/<name>/<parameter>
    std::span<float> values;  // one value for each element of the parameter block; owned by the optimiser
  };

  virtual ~Optimizer() = default;
  /// Updates `parameters` in place with the gradient scale * gradient; `scale` includes gradient clipping and the
  /// division by words or sentences. `parameters` has the size given to make_optimizer. `gradient` covers its first
  /// gradient.size() elements; the tables cover the elements after them and must be the same tables on every call. The
  /// result is bit-identical to that of a dense gradient. Where the formula allows it, the update of a row without a
  /// gradient is deferred until the row gets a gradient again.
  virtual void update(std::span<float> parameters, std::span<const float> gradient, double learning_rate, double scale,
                      std::span<const TableGradient> tables = {}) = 0;
  /// Completes the deferred updates of all rows, then returns the accumulators.
  virtual std::vector<Accumulator> accumulators() = 0;
  /// Number of calls of `update`, stored in checkpoints; Adam's t.
  std::uint64_t steps = 0;
};

/// The bytes that zeroing a gradient of `dense` elements, its norm, and `update` read and write, if nothing stays in a
/// cache; table_elements: of the tables, of which plain gradient descent touches only a few rows, which are not
/// counted, and Adadelta besides them a sixteenth.
double optimizer_bytes(const TrainOptions& options, std::size_t dense, std::size_t table_elements);

/// Accumulators start at 0; plain gradient descent has none. `size`: number of elements of the parameter block.
std::unique_ptr<Optimizer> make_optimizer(const TrainOptions& options, std::size_t size);
/// The number of accumulators of that optimiser.
std::size_t accumulators_of(const TrainOptions& options);

/// The exponential moving average of the parameters over the updates. It often translates better than the last
/// parameters (Kingma and Ba 2015, section 7.2).
class ParameterAverage {
 public:
  /// For `size` parameters. With decay = 0 there is no average: `values` is empty and the other members do nothing.
  ParameterAverage(double decay, std::size_t size) : decay_(decay), values_(decay > 0 ? size : 0) {}

  bool empty() const { return values_.empty(); }
  /// The average; a checkpoint needs to store nothing else of this object.
  std::span<float> values() { return values_; }

  /// Sets the average to these parameters.
  void begin(std::span<const float> parameters);
  /// Call it after update number `update` (from 1): average += (1 - d) (parameters - average). d is the decay, but at
  /// most (update + 1) / (update + 10), so that the initial weights do not dominate for 1 / (1 - decay) updates, as in
  /// TensorFlow's ExponentialMovingAverage and in Marian. The bits do not depend on the number of threads.
  void follow(std::span<const float> parameters, std::uint64_t update);
  /// Swaps the parameters and the average; a second call swaps them back.
  void exchange(std::span<float> parameters);

 private:
  double decay_;
  std::vector<float> values_;
};

/// What the learning rate of an update depends on besides the options. All of it is in the checkpoint.
struct SchedulePoint {
  std::uint64_t update = 1;   // u = 1, 2, ...
  double epochs = 0;          // passes over the corpus before this update, including the fraction of the current one
  double plateau_factor = 1;  // Plateau::factor
};

/// The learning rate for the size of the batches, n = batch_words or else batch_sentences, with N = reference_batch:
/// - none: learning_rate
/// - linear: learning_rate * n/N, Goyal et al. (2017), section 2.1, "linear scaling rule"
/// - square-root: learning_rate * sqrt(n/N), Krizhevsky (2014), arXiv 1404.5997, which keeps the variance of the step
double scaled_learning_rate(const TrainOptions& options);

/// The learning rate of update u, with rate = scaled_learning_rate(options) and w = warmup_updates (0: no warm-up). In
/// the warm-up it rises linearly from 0; if the batches are larger than the reference, from learning_rate ("gradual
/// warmup", Goyal et al. (2017), section 2.2), except with inverse-square-root. Written for a rise from 0:
/// - constant: rate * min(1, u/w)
/// - inverse-square-root: rate * min(u/w, sqrt(w/u)), Vaswani et al. (2017), section 5.3, scaled to reach rate at u = w
/// - plateau: rate * min(1, u/w) * factor, with the factor that Plateau halves
/// - halving: rate * min(1, u/w) / 2^k, where k is 0 before halve_after_epochs, then 1, and grows by 1 after each
///   halve_every_epochs (Luong, Pham and Manning 2015, section 4.1)
double learning_rate(const TrainOptions& options, const SchedulePoint& point);

/// The state of the plateau schedule between validations; part of a checkpoint.
struct Plateau {
  double factor = 1;
  double best_loss = 0;  // meaningful if seen
  std::uint64_t validations_without_gain = 0;
  bool seen = false;

  /// Call it after each validation. Halves the factor after `patience` validations in a row without a lower loss, then
  /// starts counting again. A loss that is NaN or infinite does not count as lower.
  void validated(double loss, std::uint64_t patience);
};

/// The state of early stopping between validations; part of a checkpoint.
struct Patience {
  double best_score = 0;  // meaningful if seen
  std::uint64_t validations_without_gain = 0;
  bool seen = false;

  void validated(double score, BestMetric metric);
};

/// Whether the score is finite and better than `best`, if there is a best one.
bool is_gain(BestMetric metric, double score, std::optional<double> best);

}  // namespace rnnsearch::train
