#include "rnnsearch/base/portable.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace rnnsearch {
namespace portable {
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

double power(double x, double y) { return exp(y * log(x)); }

// A quarter turn at most is left, and of that an eighth.
double cos_of_turn(double x) {
  constexpr double kTurn = 2 * std::numbers::pi;
  if (x > 0.5) x = 1 - x;
  if (x > 0.25) return -cos_of_turn(0.5 - x);
  if (x <= 0.125) return polynomial(kCos, kTurn * x * (kTurn * x));
  const double a = kTurn * (0.25 - x);
  return a * polynomial(kSin, a * a);
}

}  // namespace portable

namespace {

std::uint64_t splitmix64(std::uint64_t& x) {
  x += 0x9e3779b97f4a7c15u;
  std::uint64_t z = x;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(std::uint64_t seed, std::uint64_t stream) {
  std::uint64_t x = seed;
  std::uint64_t mixed_seed = splitmix64(x);
  std::uint64_t y = stream ^ 0x6a09e667f3bcc909u;
  x = mixed_seed ^ splitmix64(y);
  for (auto& word : state_) word = splitmix64(x);
}

std::uint64_t Random::next() {
  auto& s = state_;
  const std::uint64_t result = std::rotl(s[0] + s[3], 23) + s[0];
  const std::uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = std::rotl(s[3], 45);
  return result;
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::uint64_t Random::below(std::uint64_t bound) {
  const std::uint64_t threshold = (0 - bound) % bound;  // 2^64 mod bound: smaller draws are rejected to avoid a bias
  std::uint64_t draw = next();
  while (draw < threshold) draw = next();
  return draw % bound;
}

double Random::normal() {
  const double radius = std::sqrt(-2.0 * portable::log(1.0 - uniform()));
  return radius * portable::cos_of_turn(uniform());
}

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0], b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

}  // namespace rnnsearch
