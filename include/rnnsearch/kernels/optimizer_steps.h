// The formulas of the optimisers, element by element, with the best instruction set. Every operation is rounded on its
// own: products and sums are not fused, so all instruction sets of x86 give the same bits. Averages that fall below the
// smallest normal float are set to 0: they are negligible beside epsilon, and processors are slow with subnormal
// numbers. All functions run on the calling thread; the arrays of a call must not overlap.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rnnsearch::kernels {

/// Zeiler (2012), algorithm 1. `scale` multiplies the gradient.
struct AdadeltaStep {
  float rho, epsilon, rate, scale;
};
/// For `count` elements, with g = scale * gradient:
///   g2 = rho g2 + (1 - rho) g^2;   d = sqrt(d2 + epsilon) / sqrt(g2 + epsilon) g;   d2 = rho d2 + (1 - rho) d^2;
///   p -= rate d
void adadelta(const AdadeltaStep& step, std::size_t count, const float* gradient, float* p, float* g2, float* d2);

/// Kingma and Ba (2015), algorithm 1. `rate` and v_scale include the corrections of the bias; rest1 = 1 - beta1.
struct AdamStep {
  float beta1, rest1, beta2, rest2, v_scale, epsilon, rate, scale;
};
/// For `count` elements, with g = scale * gradient:
///   m = beta1 m + rest1 g;   v = beta2 v + rest2 g^2;   p -= rate m / (sqrt(v_scale v) + epsilon)
void adam(const AdamStep& step, std::size_t count, const float* gradient, float* p, float* m, float* v);

/// p -= rate (scale gradient)
void gradient_descent(float rate, float scale, std::size_t count, const float* gradient, float* p);
/// v = momentum v - rate (scale gradient);   p += v
void momentum_descent(float momentum, float rate, float scale, std::size_t count, const float* gradient, float* p,
                      float* v);

/// Multiplies averages, which are not negative, by rho, one time after the other.
void decay(float rho, std::uint64_t times, std::size_t count, float* values);

}  // namespace rnnsearch::kernels
