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

#include "kernels/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

constexpr float kLeast = std::numeric_limits<float>::min();

void adadelta(const AdadeltaStep& step, const Elements& elements) {
  const float rho = step.rho, rest = 1 - step.rho, epsilon = step.epsilon, rate = step.rate, scale = step.scale;
  const float* __restrict g = elements.gradient;
  float* __restrict p = elements.p, * __restrict g2 = elements.average, * __restrict d2 = elements.second;
  for (std::size_t i = 0, count = elements.count; i < count; ++i) {
    const float gradient_i = scale * g[i];
    const float next_g2 = rho * g2[i] + rest * gradient_i * gradient_i;
    g2[i] = next_g2 < kLeast ? 0.0F : next_g2;
    const float d = std::sqrt(d2[i] + epsilon) / std::sqrt(g2[i] + epsilon) * gradient_i;
    const float next_d2 = rho * d2[i] + rest * d * d;
    d2[i] = next_d2 < kLeast ? 0.0F : next_d2;
    p[i] -= rate * d;
  }
}

void adam(const AdamStep& step, const Elements& elements) {
  const float beta1 = step.beta1, rest1 = step.rest1, beta2 = step.beta2, rest2 = step.rest2;
  const float v_scale = step.v_scale, epsilon = step.epsilon, rate = step.rate, scale = step.scale;
  const float* __restrict g = elements.gradient;
  float* __restrict p = elements.p, * __restrict m = elements.average, * __restrict v = elements.second;
  for (std::size_t i = 0, count = elements.count; i < count; ++i) {
    const float gradient_i = scale * g[i];
    const float next_m = beta1 * m[i] + rest1 * gradient_i;
    m[i] = std::abs(next_m) < kLeast ? 0.0F : next_m;
    const float next_v = beta2 * v[i] + rest2 * gradient_i * gradient_i;
    v[i] = next_v < kLeast ? 0.0F : next_v;
    p[i] -= rate * m[i] / (std::sqrt(v_scale * v[i]) + epsilon);
  }
}

void gradient_descent(const DescentStep& step, const Elements& elements) {
  const float momentum = step.momentum, rate = step.rate, scale = step.scale;
  const std::size_t count = elements.count;
  const float* __restrict g = elements.gradient;
  float* __restrict p = elements.p, * __restrict v = elements.average;
  if (!v) {
    for (std::size_t i = 0; i < count; ++i) p[i] -= rate * (scale * g[i]);
    return;
  }
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

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rnnsearch::kernels {

HWY_EXPORT(adadelta);
void adadelta(const AdadeltaStep& step, const Elements& elements) { RNNSEARCH_CHOSEN(adadelta)(step, elements); }
HWY_EXPORT(adam);
void adam(const AdamStep& step, const Elements& elements) { RNNSEARCH_CHOSEN(adam)(step, elements); }
HWY_EXPORT(gradient_descent);
void gradient_descent(const DescentStep& step, const Elements& elements) {
  RNNSEARCH_CHOSEN(gradient_descent)(step, elements);
}
HWY_EXPORT(decay);
void decay(float rho, std::uint64_t times, std::size_t count, float* values) {
  RNNSEARCH_CHOSEN(decay)(rho, times, count, values);
}

}  // namespace rnnsearch::kernels
#endif
