#include "rnnsearch/train/optimizer.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "rnnsearch/kernels/parallel.h"

namespace rnnsearch::train {
namespace {

constexpr std::size_t kBlock = 16384;  // elements: 64 KiB of each array, which fits the second-level cache

// The loops below hold everything in local values and restricted pointers, or the compiler makes no vector code of
// them.

/// range(first, last) over [0, size), block by block.
template <class Range>
void for_blocks(std::size_t size, const Range& range) {
  kernels::parallel_for((size + kBlock - 1) / kBlock,
                        [&](std::size_t i) { range(i * kBlock, std::min(size, (i + 1) * kBlock)); });
}

// Zeiler (2012), algorithm 1, with the paper's rho = 0.95 and epsilon = 1e-6:
//   g2 = rho g2 + (1 - rho) g^2;   d = sqrt(d2 + epsilon) / sqrt(g2 + epsilon) g;   d2 = rho d2 + (1 - rho) d^2;   p -=
//   rate d
class Adadelta final : public Optimizer {
 public:
  Adadelta(double rho, double epsilon, std::size_t size)
      : rho_(static_cast<float>(rho)),
        epsilon_(static_cast<float>(epsilon)),
        squared_gradient_(size),
        squared_delta_(size) {}

  void update(std::span<float> parameters, std::span<const float> gradient, double learning_rate,
              double scale) override {
    assert(parameters.size() == squared_gradient_.size() && gradient.size() == parameters.size());
    const float rho = rho_, epsilon = epsilon_;
    const float rate = static_cast<float>(learning_rate), s = static_cast<float>(scale);
    for_blocks(parameters.size(), [=, this](std::size_t first, std::size_t last) {
      const float* __restrict g = gradient.data();
      float* __restrict p = parameters.data();
      float* __restrict g2 = squared_gradient_.data();
      float* __restrict d2 = squared_delta_.data();
      for (std::size_t i = first; i < last; ++i) {
        const float gradient_i = s * g[i];
        g2[i] = rho * g2[i] + (1 - rho) * gradient_i * gradient_i;
        const float d = std::sqrt(d2[i] + epsilon) / std::sqrt(g2[i] + epsilon) * gradient_i;
        d2[i] = rho * d2[i] + (1 - rho) * d * d;
        p[i] -= rate * d;
      }
    });
    ++steps;
  }

  std::vector<Accumulator> accumulators() override {
    return {{"squared_gradient", squared_gradient_}, {"squared_delta", squared_delta_}};
  }

 private:
  float rho_, epsilon_;
  std::vector<float> squared_gradient_, squared_delta_;
};

// Kingma and Ba (2015), algorithm 1:
//   m = beta1 m + (1 - beta1) g;   v = beta2 v + (1 - beta2) g^2;
//   p -= rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
class Adam final : public Optimizer {
 public:
  Adam(double beta1, double beta2, double epsilon, std::size_t size)
      : beta1_(beta1), beta2_(beta2), epsilon_(static_cast<float>(epsilon)), m_(size), v_(size) {}

  void update(std::span<float> parameters, std::span<const float> gradient, double learning_rate,
              double scale) override {
    assert(parameters.size() == m_.size() && gradient.size() == parameters.size());
    ++steps;
    const double t = static_cast<double>(steps);
    const float rate = static_cast<float>(learning_rate / (1 - std::pow(beta1_, t)));
    const float v_scale = static_cast<float>(1 / (1 - std::pow(beta2_, t)));
    const float beta1 = static_cast<float>(beta1_), beta2 = static_cast<float>(beta2_);
    // 1 - 0.999 in float is wrong in the fifth digit
    const float rest1 = static_cast<float>(1 - beta1_), rest2 = static_cast<float>(1 - beta2_);
    const float s = static_cast<float>(scale), epsilon = epsilon_;
    for_blocks(parameters.size(), [=, this](std::size_t first, std::size_t last) {
      const float* __restrict g = gradient.data();
      float* __restrict p = parameters.data();
      float* __restrict m = m_.data();
      float* __restrict v = v_.data();
      for (std::size_t i = first; i < last; ++i) {
        const float gradient_i = s * g[i];
        m[i] = beta1 * m[i] + rest1 * gradient_i;
        v[i] = beta2 * v[i] + rest2 * gradient_i * gradient_i;
        p[i] -= rate * m[i] / (std::sqrt(v_scale * v[i]) + epsilon);
      }
    });
  }

  std::vector<Accumulator> accumulators() override { return {{"m", m_}, {"v", v_}}; }

 private:
  double beta1_, beta2_;
  float epsilon_;
  std::vector<float> m_, v_;
};

}  // namespace

double norm_of(std::span<const float> gradient) {
  std::vector<double> sums((gradient.size() + kBlock - 1) / kBlock);
  for_blocks(gradient.size(), [&](std::size_t first, std::size_t last) {
    // Four sums, so that the additions need not wait for each other.
    double sum[4] = {};
    std::size_t i = first;
    for (; i + 4 <= last; i += 4) {
      for (std::size_t k = 0; k < 4; ++k) sum[k] += static_cast<double>(gradient[i + k]) * gradient[i + k];
    }
    for (; i < last; ++i) sum[0] += static_cast<double>(gradient[i]) * gradient[i];
    sums[first / kBlock] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return std::sqrt(total);
}

std::unique_ptr<Optimizer> make_optimizer(const TrainOptions& options, std::size_t size) {
  if (options.optimizer == OptimizerKind::kAdam) {
    return std::make_unique<Adam>(options.adam_beta1, options.adam_beta2, options.adam_epsilon, size);
  }
  return std::make_unique<Adadelta>(options.rho, options.epsilon, size);
}

}  // namespace rnnsearch::train
