// From a gradient to an update. All of it is elementwise, over fixed blocks on all threads: the bits do not depend on
// them.
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

/// The squared Euclidean norm, summed in double precision over fixed blocks in a fixed order. Not finite exactly when
/// an element is not: the squares of floats cannot overflow a double.
double squared_norm_of(std::span<const float> gradient);

/// The gradient of a table [table_rows, cols] in the parameter block, 0 but for some rows.
struct TableGradient {
  std::size_t offset = 0;  // of the table in the block
  std::size_t table_rows = 0, cols = 0;
  std::span<const WordId> words;  // the rows that are not 0, ascending
  std::span<const float> rows;    // [words, cols]
};

class Optimizer {
 public:
  struct Accumulator {
    std::string name;         // as in the checkpoint: /optimizer/<name>/<parameter>
    std::span<float> values;  // one an element of the parameter block; owned by the optimiser
  };

  virtual ~Optimizer() = default;
  /// In place; g_i = scale * gradient_i is what the formula sees (the clip and the division are in `scale`).
  /// `parameters` has the size given to make_optimizer, `gradient` that of its beginning; the tables come after it, and
  /// are the same on every call. The bits are those of the same gradient written out with its zeros: rows that nobody
  /// touched are left alone for as long as the formula lets them, and catch up when they are touched.
  virtual void update(std::span<float> parameters, std::span<const float> gradient, double learning_rate, double scale,
                      std::span<const TableGradient> tables = {}) = 0;
  /// All rows catch up first; the next `update` leaves untouched ones behind again.
  virtual std::vector<Accumulator> accumulators() = 0;
  /// How often `update` was called; part of a checkpoint, Adam's t.
  std::uint64_t steps = 0;
};

/// Accumulators begin at 0; plain gradient descent has none. `size`: elements of the parameter block.
std::unique_ptr<Optimizer> make_optimizer(const TrainOptions& options, std::size_t size);

}  // namespace rnnsearch::train
