#include "tests/support/scores.h"

#include <map>
#include <stdexcept>

namespace rnnsearch::reference {
namespace {

std::map<std::string, Energy>& energies() {
  static std::map<std::string, Energy> all;
  return all;
}

}  // namespace

Score::Score(const std::string& name, Energy energy) {
  if (!energies().emplace(name, std::move(energy)).second) throw std::logic_error("two equations of the score " + name);
}

const Energy& energy_of(const std::string& name) {
  const auto found = energies().find(name);
  if (found == energies().end()) throw std::logic_error("no file of tests/kernels/scores has the score " + name);
  return found->second;
}

std::vector<std::string> score_names() {
  std::vector<std::string> all;
  for (const auto& [name, energy] : energies()) all.push_back(name);
  return all;
}

Vector product(const Vector& x, const Matrix& W) {
  if (x.size() != W.rows) throw std::logic_error("a product of sizes that do not match");
  Vector y(W.cols, 0.0);
  for (std::size_t i = 0; i < W.rows; ++i) {
    for (std::size_t j = 0; j < W.cols; ++j) y[j] += x[i] * W(i, j);
  }
  return y;
}

double dot(const Vector& a, const Vector& b) {
  if (a.size() != b.size()) throw std::logic_error("a dot product of sizes that do not match");
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += a[i] * b[i];
  return total;
}

}  // namespace rnnsearch::reference
