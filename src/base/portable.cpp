#include "rnnsearch/base/portable.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace rnnsearch::portable {
namespace {

// The natural logarithm of 2 in two parts. The first has 32 bits, so that its products with exponents are exact.
constexpr double kLog2High = 0x1.62e42fee00000p-1, kLog2Low = 0x1.a39ef35793c76p-33;

// c0 + c1 x + c2 x^2 + ...
template <std::size_t N>
double polynomial(const std::array<double, N>& coefficients, double x) {
  double value = 0;
  for (auto c = coefficients.rbegin(); c != coefficients.rend(); ++c) value = value * x + *c;
  return value;
}

// artanh(s) = s + s^3 / 3 + s^5 / 5 + ..., from the second term on, twice and divided by s^3
constexpr auto kArtanh = [] {
  std::array<double, 11> c{};
  for (std::size_t k = 0; k < c.size(); ++k) c[k] = 2.0 / static_cast<double>(2 * k + 3);
  return c;
}();

// The series of the exponential function: 1 / first!, sign / (first + step)!, 1 / (first + 2 step)! ...
template <std::size_t N>
constexpr std::array<double, N> inverse_factorials(std::size_t first, std::size_t step, double sign) {
  std::array<double, N> c{};
  double factorial = 1, s = 1;
  for (std::size_t n = 2; n <= first; ++n) factorial *= static_cast<double>(n);
  for (std::size_t k = 0, n = first; k < N; ++k, s *= sign) {
    c[k] = s / factorial;
    for (std::size_t i = 0; i < step; ++i) factorial *= static_cast<double>(++n);
  }
  return c;
}
constexpr auto kExp = inverse_factorials<13>(2, 1, 1);  // exp(r) = 1 + r + r^2 (1 / 2! + r / 3! + ...)
constexpr auto kCos = inverse_factorials<9>(0, 2, -1), kSin = inverse_factorials<9>(1, 2, -1);

}  // namespace

// x = 2^e m with sqrt(1/2) <= m < sqrt(2), and log(m) = 2 artanh(s) with s = (m - 1) / (m + 1), |s| < 0.172.
double log(double x) {
  if (!(x > 0)) return x == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(x)) return x;
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < std::numbers::sqrt2 / 2) {
    m *= 2;
    --exponent;
  }
  const double f = m - 1, s = f / (2 + f), s2 = s * s, half = f * f / 2, series = s2 * polynomial(kArtanh, s2);
  // log(m) = f - (f^2 / 2 - s (f^2 / 2 + series)), whose first term has no error.
  const double e = exponent;
  return e * kLog2High - ((half - (s * (half + series) + e * kLog2Low)) - f);
}

// x = n log(2) + r with |r| <= log(2) / 2.
double exp(double x) {
  if (std::isnan(x)) return x;
  x = std::clamp(x, -800.0, 800.0);
  const double n = std::floor(x / std::numbers::ln2 + 0.5);
  const double high = x - n * kLog2High, low = n * kLog2Low, r = high - low;
  return std::ldexp(1 + (high + (r * r * polynomial(kExp, r) - low)), static_cast<int>(n));
}

double power(double x, double y) {
  return exp(y * log(x));
}

// A quarter turn at most is left, and of that an eighth.
double cos_of_turn(double x) {
  constexpr double kTurn = 2 * std::numbers::pi;
  if (x > 0.5) x = 1 - x;
  if (x > 0.25) return -cos_of_turn(0.5 - x);
  if (x <= 0.125) return polynomial(kCos, kTurn * x * (kTurn * x));
  const double a = kTurn * (0.25 - x);
  return a * polynomial(kSin, a * a);
}

}  // namespace rnnsearch::portable
