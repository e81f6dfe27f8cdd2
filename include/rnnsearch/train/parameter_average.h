// The exponential moving average of the parameters over the updates, which often translates better than the last
// parameters (Kingma and Ba 2015, section 7.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rnnsearch::train {

class ParameterAverage {
 public:
  /// Of `size` parameters. decay 0: there is none, `values` is empty, and all of the below does nothing.
  ParameterAverage(double decay, std::size_t size) : decay_(decay), values_(decay > 0 ? size : 0) {}

  bool empty() const { return values_.empty(); }
  /// All that a checkpoint has to keep of it.
  std::span<float> values() { return values_; }

  void begin(std::span<const float> parameters);
  /// After update number `update` (from 1): average += (1 - d) (parameters - average). d is the decay, but at most
  /// (update + 1) / (update + 10), lest the first weights dominate for 1 / (1 - decay) updates (as TensorFlow's
  /// ExponentialMovingAverage and Marian). Elementwise: the bits do not depend on the threads.
  void follow(std::span<const float> parameters, std::uint64_t update);
  /// The parameters become the average and the average the parameters; twice: nothing has happened.
  void exchange(std::span<float> parameters);

 private:
  double decay_;
  std::vector<float> values_;
};

}  // namespace rnnsearch::train
