// Elementary functions of doubles whose results are the same bits on every processor and with every C library, unlike
// those of <cmath>: they only add, multiply and divide, in a fixed order (CMakeLists.txt forbids the compiler to fuse).
// log and exp are wrong by less than a unit in the last place. Thread-safe. And random numbers that are the same on
// every machine, unlike the distributions of the standard library.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace rnnsearch {
namespace portable {

/// The natural logarithm of x. 0: -infinity; negative or NaN: NaN.
double log(double x);
/// e to the power of x.
double exp(double x);
/// x >= 0 to the power of y, which is above 0 if x is 0, with an error of |y log(x)| units in the last place.
double power(double x, double y);
/// cos(2 pi x) for 0 <= x <= 1, with an error below 2^-52.
double cos_of_turn(double x);

}  // namespace portable

/// xoshiro256++ (Blackman and Vigna 2019), seeded through splitmix64. Streams of one seed are independent.
/// Not thread-safe.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0);

  std::uint64_t next();
  /// Uniform in [0, 1), with 53 bits.
  double uniform();
  /// Uniform in [0, bound), unbiased. REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound);
  /// Normal with mean 0 and variance 1 (Box-Muller). Each call draws two numbers and keeps none for the next call.
  double normal();

  /// Shuffles with the Fisher-Yates algorithm.
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::array<std::uint64_t, 4> state_;
};

/// Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011): four random words that depend only on counter and key, so they
/// can be computed again in any order.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

}  // namespace rnnsearch
