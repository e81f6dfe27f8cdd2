// The combinations of training options that make no sense.
#pragma once

#include <limits>
#include <span>

#include "rnnsearch/base/option.h"
#include "rnnsearch/train/options.h"

namespace rnnsearch::train {

// Options are double and the optimizers compute in float32, where 1e-46 is 0, 1e39 infinite, and 1 - 1e-9 is 1.
inline constexpr Bounds kPositive{.from = static_cast<double>(std::numeric_limits<float>::min()),
                                  .to = static_cast<double>(std::numeric_limits<float>::max()),
                                  .sentence = "of at least 1.2e-38 and at most 3.4e38, as float32 has it"};

std::span<const Rule<TrainOptions>> option_rules();

}  // namespace rnnsearch::train
