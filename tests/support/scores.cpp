#include "tests/support/scores.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace rnnsearch::reference {
namespace {

Vector query(const Parameters& p, const Vector& s) { return product(s, p.at("attention/W_a")); }
Vector key(const Parameters& p, const Vector& h) { return product(h, p.at("attention/U_a")); }

/// sum_a v_a phi(q_a + k_a)
double perceptron(const Vector& v, const Vector& q, const Vector& k, double (*phi)(double)) {
  double total = 0;
  for (std::size_t a = 0; a < v.size(); ++a) total += v[a] * phi(q[a] + k[a]);
  return total;
}

}  // namespace

const std::map<std::string, Energy>& energies() {
  static const std::map<std::string, Energy> all{
      {"additive",
       [](const Parameters& p, const Vector& s, const Vector& h) {
         return perceptron(p.at("attention/v_a").values, query(p, s), key(p, h), std::tanh);
       }},
      {"concat",
       [](const Parameters& p, const Vector& s, const Vector& h) {
         Vector both = s;
         both.insert(both.end(), h.begin(), h.end());
         return perceptron(p.at("attention/v_a").values, query(p, both), Vector(p.at("attention/v_a").cols), std::tanh);
       }},
      {"dot", [](const Parameters&, const Vector& s, const Vector& h) { return dot(s, h); }},
      {"general", [](const Parameters& p, const Vector& s, const Vector& h) { return dot(query(p, s), h); }},
      {"l2",
       [](const Parameters& p, const Vector& s, const Vector& h) {
         Vector difference = query(p, s);
         const Vector k = key(p, h);
         for (std::size_t a = 0; a < k.size(); ++a) difference[a] -= k[a];
         return -dot(difference, difference) / std::sqrt(static_cast<double>(k.size()));
       }},
      {"mlp",
       [](const Parameters& p, const Vector& s, const Vector& h) {
         Vector biased = query(p, s);
         const Vector& b = p.at("attention/b_a").values;
         for (std::size_t a = 0; a < b.size(); ++a) biased[a] += b[a];
         const auto relu = [](double x) { return std::max(x, 0.0); };
         return perceptron(p.at("attention/v_a").values, biased, key(p, h), relu);
       }},
      {"scaled-dot", [](const Parameters&, const Vector& s, const Vector& h) {
         return dot(s, h) / std::sqrt(static_cast<double>(s.size()));
       }}};
  return all;
}

Vector product(const Vector& x, const Matrix& W) {
  if (x.size() != W.rows) throw std::logic_error("a product of sizes that do not match");
  Vector y(W.cols, 0.0);
  for (std::size_t i = 0; i < W.rows; ++i)
    for (std::size_t j = 0; j < W.cols; ++j) y[j] += x[i] * W(i, j);
  return y;
}

double dot(const Vector& a, const Vector& b) {
  if (a.size() != b.size()) throw std::logic_error("a dot product of sizes that do not match");
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += a[i] * b[i];
  return total;
}

}  // namespace rnnsearch::reference
