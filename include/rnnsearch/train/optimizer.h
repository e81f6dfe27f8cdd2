// Optimisers: they turn a gradient into an update of the parameters. All operations are elementwise over fixed blocks,
// so the result does not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/train/options.h"

namespace rnnsearch::train {

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

}  // namespace rnnsearch::train
