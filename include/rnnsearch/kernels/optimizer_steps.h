// The formulas of the optimisers, element by element, with the best instruction set. Every operation is rounded on its
// own: products and sums are not fused, so all instruction sets of x86 give the same bits. Averages that fall below the
// smallest normal float are set to 0: they are negligible beside epsilon, and processors are slow with subnormal
// numbers. All functions run on the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rnnsearch::kernels {

/// Some elements of the parameters; the arrays must not overlap. g = scale * gradient in every formula.
struct Elements {
  std::size_t count;
  const float* gradient;
  float* p;
  float* average = nullptr;  // the first accumulator of the formula
  float* second = nullptr;   // the second one
};

/// Zeiler (2012), algorithm 1. average: g2, second: d2.
struct AdadeltaStep {
  float rho, epsilon, rate, scale;
};
///   g2 = rho g2 + (1 - rho) g^2;   d = sqrt(d2 + epsilon) / sqrt(g2 + epsilon) g;   d2 = rho d2 + (1 - rho) d^2;
///   p -= rate d
void adadelta(const AdadeltaStep& step, const Elements& elements);

/// Kingma and Ba (2015), algorithm 1. `rate` and v_scale include the corrections of the bias; rest1 = 1 - beta1.
/// average: m, second: v.
struct AdamStep {
  float beta1, rest1, beta2, rest2, v_scale, epsilon, rate, scale;
};
///   m = beta1 m + rest1 g;   v = beta2 v + rest2 g^2;   p -= rate m / (sqrt(v_scale v) + epsilon)
void adam(const AdamStep& step, const Elements& elements);

/// average: v; without it there is no momentum.
struct DescentStep {
  float momentum, rate, scale;
};
///   p -= rate g,   or   v = momentum v - rate g;   p += v
void gradient_descent(const DescentStep& step, const Elements& elements);

/// Multiplies averages, which are not negative, by rho, one time after the other.
void decay(float rho, std::uint64_t times, std::size_t count, float* values);

}  // namespace rnnsearch::kernels
