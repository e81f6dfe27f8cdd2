// Attention scores by their equations, in float64, one pair of vectors at a time, and the numbers of the references.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace rnnsearch::reference {

using Vector = std::vector<double>;

struct Matrix {  // row-major; a bias is [1, cols]
  std::size_t rows = 0, cols = 0;
  Vector values;

  double operator()(std::size_t i, std::size_t j) const { return values[i * cols + j]; }
};

using Parameters = std::map<std::string, Matrix>;  // by the checkpoint's names

/// The energy e of the decoder's state s and an annotation h, with the parameters "attention/W_a" and so on.
using Energy = std::function<double(const Parameters& p, const Vector& s, const Vector& h)>;

/// By the name of the score; a score that has none fails HaveOneNameAndOneEquationEach of
/// tests/kernels/scores_test.cpp.
const std::map<std::string, Energy>& energies();

/// x W, W[rows, cols].
Vector product(const Vector& x, const Matrix& W);
double dot(const Vector& a, const Vector& b);

}  // namespace rnnsearch::reference
