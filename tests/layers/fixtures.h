// What the tests of the layers share: matrices that own their memory, and the central-difference check.
#pragma once

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/portable.h"
#include "rnnsearch/base/sentences.h"
#include "tests/support/gradient_check.h"
#include "tests/support/test.h"

namespace rnnsearch::layers {

struct Matrix {
  std::vector<double> values;
  std::size_t rows = 0, cols = 0;

  Matrix() = default;
  Matrix(std::size_t rows_, std::size_t cols_, double value = 0)
      : values(rows_ * cols_, value), rows(rows_), cols(cols_) {}

  MatrixView<Real> view() { return {values.data(), rows, cols}; }
  std::span<double> span() { return values; }
};

inline Matrix random_matrix(Random& random, std::size_t rows, std::size_t cols) {
  Matrix matrix(rows, cols);
  for (double& value : matrix.values) value = random.normal();
  return matrix;
}

/// The loss of these tests is a fixed random weighting of a layer's results, so the weighting is the gradient from
/// above.
inline double weighted_sum(const Matrix& weighting, ConstMatrix result) {
  EXPECT_EQ(weighting.rows, result.rows);
  EXPECT_EQ(weighting.cols, result.cols);
  double sum = 0;
  for (std::size_t i = 0; i < result.rows; ++i)
    for (std::size_t j = 0; j < result.cols; ++j) sum += weighting.values[i * result.cols + j] * result(i, j);
  return sum;
}

/// What gradients hold before a backward pass that adds to them.
inline constexpr double kBefore = 0.375;

/// `found`, less what it held before, is the central difference of `loss` by each of `values`.
inline void expect_gradient(const std::string& name, std::span<double> values, std::span<const double> found,
                            double before, const std::function<double()>& loss) {
  std::vector<double> gradient(found.begin(), found.end());
  for (double& value : gradient) value -= before;
  EXPECT_TRUE(std::any_of(gradient.begin(), gradient.end(), [](double g) { return std::abs(g) > 1e-3; }))
      << name << " does not matter, so nothing is checked";
  support::GradientCheck options;
  options.name = name;
  options.floor = 1e-8;  // the third derivative times epsilon^2 / 6: weights of size 1 make it up to 100
  support::expect_gradient(values, gradient, loss, options);
}

}  // namespace rnnsearch::layers
