#include "rnnsearch/train/parameter_average.h"

#include <algorithm>
#include <cassert>

#include "train/for_blocks.h"

namespace rnnsearch::train {
void ParameterAverage::begin(std::span<const float> parameters) {
  if (empty()) return;
  assert(parameters.size() == values_.size());
  std::copy(parameters.begin(), parameters.end(), values_.begin());
}

void ParameterAverage::follow(std::span<const float> parameters, std::uint64_t update) {
  if (empty()) return;
  assert(parameters.size() == values_.size());
  const auto t = static_cast<double>(update);
  const float rest = static_cast<float>(1 - std::min(decay_, (t + 1) / (t + 10)));
  for_blocks(values_.size(), [&](std::size_t first, std::size_t last) {
    const float* __restrict from = parameters.data();
    float* __restrict to = values_.data();
    for (std::size_t i = first; i < last; ++i) to[i] += rest * (from[i] - to[i]);
  });
}

void ParameterAverage::exchange(std::span<float> parameters) {
  if (empty()) return;
  assert(parameters.size() == values_.size());
  for_blocks(values_.size(), [&](std::size_t first, std::size_t last) {
    std::swap_ranges(values_.data() + first, values_.data() + last, parameters.data() + first);
  });
}

}  // namespace rnnsearch::train
