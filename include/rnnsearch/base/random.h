// Random numbers that are the same on every machine: the standard library's distributions are not.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace rnnsearch {

/// xoshiro256++ (Blackman and Vigna 2019), seeded through splitmix64. Streams of one seed are independent.
/// Not to be shared by threads.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0);

  std::uint64_t next();
  /// In [0, 1), 53 bits.
  double uniform();
  /// In [0, bound), unbiased. bound > 0.
  std::uint64_t below(std::uint64_t bound);
  /// Mean 0, variance 1 (Box-Muller, both halves drawn anew at each call, so that no state hides between calls).
  double normal();

  /// Fisher-Yates.
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::array<std::uint64_t, 4> state_;
};

/// Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011): four random words that are a function of counter and key alone,
/// so that any of them can be had again, in any order.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

}  // namespace rnnsearch
