// The softmax kernels for one row, compiled for each instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace rnnsearch::kernels {

/// Exponentials of a row are summed in blocks of so many words, each block relative to its own largest element, and the
/// sums are added up in double. So a block need not know the largest element of the row, and blocks may be computed one
/// after the other or at once: the bits are the same. The division is part of the bits.
constexpr std::size_t kWordsPerSum = 512;

template <class T>
struct SoftmaxRows {
  /// x = x + bias. Returns the largest element.
  T (*add_bias)(std::size_t n, const T* bias, T* x);
  /// Returns the sum of exp(x - largest).
  T (*sum_of_exp)(std::size_t n, T largest, const T* x);
  /// x = exp(x - largest). Returns the sum.
  T (*exp_and_sum)(std::size_t n, T largest, T* x);
  /// x = (x - largest) - log
  void (*subtract)(std::size_t n, T largest, T log, T* x);
  /// x = factor x
  void (*scale)(std::size_t n, T factor, T* x);
  /// to = log(exp(to + log_rest) + exp(from + log_share))
  void (*mix)(std::size_t n, T log_rest, T log_share, const T* from, T* to);
};

template <class T>
struct PartOfSum {
  T largest, sum;  // the sum of exp(x - largest)
};

/// x = x + bias, for a block of a row.
template <class T>
PartOfSum<T> part_of_sum(const SoftmaxRows<T>& rows, std::size_t n, const T* bias, T* x) {
  const T largest = rows.add_bias(n, bias, x);
  // Where all are -infinity the sum is 0; relative to -infinity it would be NaN.
  const bool never = largest == -std::numeric_limits<T>::infinity();
  return {largest, rows.sum_of_exp(n, never ? T{0} : largest, x)};
}

template <class T>
struct LogSum {
  T largest, log;  // log sum exp(x) = largest + log. The log is NaN if an element is NaN, or all are -infinity.
};

/// Of a row whose blocks have these parts, at least one. `factors` is memory that is reused.
template <class T>
LogSum<T> log_sum(const SoftmaxRows<T>& rows, std::span<const T> largest, std::span<const T> sums,
                  std::vector<T>& factors) {
  T most = largest[0];
  for (const T value : largest) most = value > most ? value : most;
  factors.assign(largest.begin(), largest.end());
  rows.exp_and_sum(factors.size(), most, factors.data());
  double sum = 0;
  for (std::size_t b = 0; b < sums.size(); ++b) {
    sum += static_cast<double>(sums[b]) * static_cast<double>(factors[b]);
  }
  return {most, static_cast<T>(std::log(sum))};
}

}  // namespace rnnsearch::kernels
