// The loops are plain ones, which the compiler makes vector code of for each instruction set: for SSE2, too, where
// Highway would compute element by element. CMakeLists.txt gives this file the flags that this needs, and forbids
// fusing products and sums. The loops use only local variables and restrict pointers; otherwise they stay scalar.
#include "rnnsearch/kernels/optimizer_steps.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimizer_steps.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/optimizer_steps_rows.h"
#include "kernels/row_tables.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

constexpr float kLeast = std::numeric_limits<float>::min();

void adadelta(const AdadeltaStep& step, std::size_t count, const float* gradient, float* p_, float* g2_, float* d2_) {
  const float rho = step.rho, rest = 1 - step.rho, epsilon = step.epsilon, rate = step.rate, scale = step.scale;
  const float* __restrict g = gradient;
  float* __restrict p = p_, * __restrict g2 = g2_, * __restrict d2 = d2_;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient_i = scale * g[i];
    const float next_g2 = rho * g2[i] + rest * gradient_i * gradient_i;
    g2[i] = next_g2 < kLeast ? 0.0F : next_g2;
    const float d = std::sqrt(d2[i] + epsilon) / std::sqrt(g2[i] + epsilon) * gradient_i;
    const float next_d2 = rho * d2[i] + rest * d * d;
    d2[i] = next_d2 < kLeast ? 0.0F : next_d2;
    p[i] -= rate * d;
  }
}

void adam(const AdamStep& step, std::size_t count, const float* gradient, float* p_, float* m_, float* v_) {
  const float beta1 = step.beta1, rest1 = step.rest1, beta2 = step.beta2, rest2 = step.rest2;
  const float v_scale = step.v_scale, epsilon = step.epsilon, rate = step.rate, scale = step.scale;
  const float* __restrict g = gradient;
  float* __restrict p = p_, * __restrict m = m_, * __restrict v = v_;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient_i = scale * g[i];
    const float next_m = beta1 * m[i] + rest1 * gradient_i;
    m[i] = std::abs(next_m) < kLeast ? 0.0F : next_m;
    const float next_v = beta2 * v[i] + rest2 * gradient_i * gradient_i;
    v[i] = next_v < kLeast ? 0.0F : next_v;
    p[i] -= rate * m[i] / (std::sqrt(v_scale * v[i]) + epsilon);
  }
}

void gradient_descent(float rate, float scale, std::size_t count, const float* gradient, float* p_) {
  const float* __restrict g = gradient;
  float* __restrict p = p_;
  for (std::size_t i = 0; i < count; ++i) p[i] -= rate * (scale * g[i]);
}

void momentum_descent(float momentum, float rate, float scale, std::size_t count, const float* gradient, float* p_,
                      float* v_) {
  const float* __restrict g = gradient;
  float* __restrict p = p_, * __restrict v = v_;
  for (std::size_t i = 0; i < count; ++i) {
    const float next = momentum * v[i] - rate * (scale * g[i]);
    v[i] = std::abs(next) < kLeast ? 0.0F : next;
    p[i] += v[i];
  }
}

// Multiplies kAtOnce values in parallel, to hide the latency of a multiplication, and ends when all are 0, which their
// bits tell: averages are not negative.
void decay(float rho, std::uint64_t times, std::size_t count, float* values) {
  constexpr std::size_t kAtOnce = 64;
  for (std::size_t first = 0; first < count; first += kAtOnce) {
    const std::size_t here = std::min(kAtOnce, count - first);
    alignas(64) float some[kAtOnce] = {};
    std::copy_n(values + first, here, some);
    for (std::uint64_t time = 0; time < times; ++time) {
      std::uint32_t any = 0;
      for (std::size_t i = 0; i < kAtOnce; ++i) {
        const float next = rho * some[i];
        some[i] = next < kLeast ? 0.0F : next;
        std::uint32_t bits = 0;
        std::memcpy(&bits, &some[i], sizeof bits);
        any |= bits;
      }
      if (any == 0) break;
    }
    std::copy_n(some, here, values + first);
  }
}

constexpr OptimizerSteps kSteps = {adadelta, adam, gradient_descent, momentum_descent, decay};
RNNSEARCH_ROW_TABLE(optimizer_steps, kSteps)

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rnnsearch::kernels {

RNNSEARCH_CHOOSE_ROW_TABLE(optimizer_steps, OptimizerSteps)

namespace {
const OptimizerSteps& steps() {
  return row_table<OptimizerSteps>();
}
}  // namespace

void adadelta(const AdadeltaStep& step, std::size_t count, const float* gradient, float* p, float* g2, float* d2) {
  steps().adadelta(step, count, gradient, p, g2, d2);
}
void adam(const AdamStep& step, std::size_t count, const float* gradient, float* p, float* m, float* v) {
  steps().adam(step, count, gradient, p, m, v);
}
void gradient_descent(float rate, float scale, std::size_t count, const float* gradient, float* p) {
  steps().gradient_descent(rate, scale, count, gradient, p);
}
void momentum_descent(float momentum, float rate, float scale, std::size_t count, const float* gradient, float* p,
                      float* v) {
  steps().momentum_descent(momentum, rate, scale, count, gradient, p, v);
}
void decay(float rho, std::uint64_t times, std::size_t count, float* values) {
  steps().decay(rho, times, count, values);
}

}  // namespace rnnsearch::kernels
#endif
