// Random numbers that are the same on every machine, unlike the distributions of the standard library.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace rnnsearch {

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
