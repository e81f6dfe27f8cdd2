// The exponential moving average of the parameters over the updates. It often translates better than the last
// parameters (Kingma and Ba 2015, section 7.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rnnsearch::train {

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

}  // namespace rnnsearch::train
