#include "rnnsearch/train/parameter_average.h"

#include <algorithm>
#include <cassert>

#include "rnnsearch/base/parallel.h"

namespace rnnsearch::train {
namespace {

constexpr std::size_t kBlock = 16384;  // elements

template <class Range>
void for_blocks(std::size_t size, const Range& range) {
  parallel_for((size + kBlock - 1) / kBlock,
               [&](std::size_t i) { range(i * kBlock, std::min(size, (i + 1) * kBlock)); });
}

}  // namespace

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
