// Attention scores by their equations, in float64, one pair of vectors at a time. Each file of tests/kernels/scores/ is
// a score; all tests of scores compare with them, and fail for a score without a file.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/reference_model.h"

namespace rnnsearch::reference {

/// The energy e of the decoder's state s and an annotation h, with the parameters "attention/W_a" and so on.
using Energy = std::function<double(const Parameters& p, const Vector& s, const Vector& h)>;

class Score {
 public:
  Score(const std::string& name, Energy energy);  // registers the score for energy_of and score_names
};

const Energy& energy_of(const std::string& name);
std::vector<std::string> score_names();

/// x W, W[rows, cols].
Vector product(const Vector& x, const Matrix& W);
double dot(const Vector& a, const Vector& b);
/// sum_a v_a phi(a)
inline double sum(const Vector& v, const std::function<double(std::size_t)>& phi) {
  double total = 0;
  for (std::size_t a = 0; a < v.size(); ++a) total += v[a] * phi(a);
  return total;
}

}  // namespace rnnsearch::reference
