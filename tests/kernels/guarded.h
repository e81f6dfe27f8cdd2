// Operands for the kernel tests: misaligned views, rows further apart than they are wide, and guard values around.
#pragma once

#include <initializer_list>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/portable.h"
#include "tests/support/test.h"

namespace rnnsearch::kernels {

/// Every element starts as the guard, a NaN: what is read without having been written shows in the result, what is
/// written outside the view shows in guards_hold(), and `was_written` tells elements inside that are still the guard.
template <class Element>
class Guarded {
 public:
  Guarded(std::size_t rows, std::size_t cols, std::size_t misalignment = 1, std::size_t gap = 3)
      : rows_(rows),
        cols_(cols),
        stride_(cols + gap),
        first_(kGuards + misalignment),
        memory_(first_ + rows * stride_ + kGuards, guard()) {}

  MatrixView<Element> view() { return {memory_.data() + first_, rows_, cols_, stride_}; }
  ConstMatrixView<Element> read() const { return {memory_.data() + first_, rows_, cols_, stride_}; }
  std::span<Element> row(std::size_t i) { return {view().row(i), cols_}; }
  Element& operator()(std::size_t i, std::size_t j) { return view()(i, j); }

  Guarded& fill(const std::function<double()>& draw) {
    for (std::size_t i = 0; i < rows_; ++i)
      for (std::size_t j = 0; j < cols_; ++j) (*this)(i, j) = static_cast<Element>(draw());
    return *this;
  }
  Guarded& normal(Random& random, double scale = 1) {
    return fill([&] { return scale * random.normal(); });
  }
  /// Multiples of 1/64 in (-limit, limit): their sums, and products of few, are exact in float.
  Guarded& grid(Random& random, double limit) {
    const auto steps = static_cast<std::uint64_t>(limit * 64);
    return fill([&] { return static_cast<double>(random.below(2 * steps - 1) + 1) / 64 - limit; });
  }
  Guarded& integers(Random& random, std::uint64_t limit) {
    return fill([&] { return static_cast<double>(random.below(2 * limit + 1)) - static_cast<double>(limit); });
  }

  /// Row after row, without gaps.
  std::vector<double> values() const {
    std::vector<double> all;
    all.reserve(rows_ * cols_);
    for (std::size_t i = 0; i < rows_; ++i)
      for (std::size_t j = 0; j < cols_; ++j) all.push_back(static_cast<double>(read()(i, j)));
    return all;
  }

  bool guards_hold() const {
    std::size_t next = 0;
    for (std::size_t i = 0; i < rows_; ++i) {
      const std::size_t start = first_ + i * stride_;
      if (!guards(next, start)) return false;
      next = start + cols_;
    }
    return guards(next, memory_.size());
  }
  bool was_written(std::size_t i, std::size_t j) const {
    const std::size_t at = first_ + i * stride_ + j;
    return !guards(at, at + 1);
  }

 private:
  static constexpr std::size_t kGuards = 70;  // more than a whole step of the widest vectors
  static Element guard() {
    if constexpr (sizeof(Element) == 4) {
      return std::nanf("54321");
    } else {
      return std::nan("54321");
    }
  }
  bool guards(std::size_t first, std::size_t last) const {
    const Element value = guard();
    for (std::size_t i = first; i < last; ++i)
      if (std::memcmp(&memory_[i], &value, sizeof(Element)) != 0) return false;
    return true;
  }

  std::size_t rows_, cols_, stride_, first_;
  std::vector<Element> memory_;
};

struct Bound {
  double absolute;
  double relative = 0;
};

/// double is held to 1e-12 everywhere.
inline Bound bound(double absolute, double relative = 0) {
  return sizeof(Real) == 8 ? Bound{1e-12, 1e-12} : Bound{absolute, relative};
}

/// One failure for the worst element. True if there was none, so that loops can stop at the first.
inline bool close(const std::vector<double>& found, const std::vector<double>& expected, Bound allowed,
                  const std::string& what) {
  if (found.size() != expected.size()) {
    ADD_FAILURE() << what << ": " << found.size() << " elements, expected " << expected.size();
    return false;
  }
  std::size_t worst = 0;
  double excess = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected[i]) continue;
    const double limit = allowed.absolute + allowed.relative * std::abs(expected[i]);
    const double ratio = std::abs(found[i] - expected[i]) / limit;
    if (!(ratio <= excess)) {
      worst = i;
      excess = std::isnan(ratio) ? HUGE_VAL : ratio;
    }
  }
  if (excess <= 1) return true;
  ADD_FAILURE() << what << ": element " << worst << " is " << found[worst] << ", expected " << expected[worst] << ", "
                << excess << " times the allowed error";
  return false;
}

template <class Element>
bool close(const Guarded<Element>& found, const std::vector<double>& expected, Bound allowed, const std::string& what) {
  EXPECT_TRUE(found.guards_hold()) << what << ": written outside of the view";
  return close(found.values(), expected, allowed, what) && found.guards_hold();
}

/// Every length 1..70, and a few around and beyond the pieces the kernels cut work into.
inline std::vector<std::size_t> lengths() {
  std::vector<std::size_t> all;
  for (std::size_t n = 1; n <= 70; ++n) all.push_back(n);
  for (const std::size_t n : {127u, 128u, 129u, 500u, 1000u, 4099u}) all.push_back(n);
  return all;
}

/// `run` starts from the same operands at each call and returns its results.
inline void expect_same_bits_on_any_number_of_threads(const std::function<std::vector<double>()>& run) {
  const std::size_t before = thread_count();
  set_thread_count(1);
  const std::vector<double> expected = run();
  for (const std::size_t count : {2u, 4u}) {
    set_thread_count(count);
    for (int repetition = 0; repetition < 3; ++repetition) {
      const std::vector<double> found = run();
      ASSERT_EQ(found.size(), expected.size());
      EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(double)), 0) << count << " threads";
    }
  }
  set_thread_count(before);
}

inline std::vector<double> joined(std::initializer_list<std::vector<double>> parts) {
  std::vector<double> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace rnnsearch::kernels
