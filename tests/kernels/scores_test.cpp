#include "rnnsearch/kernels/scores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "rnnsearch/base/random.h"
#include "tests/support/gradient_check.h"
#include "tests/support/scores.h"

namespace rnnsearch::kernels {
namespace {

/// Three sentences of 1, 7 and 19 words, and a row that looks at each. The projections are made elsewhere.
struct Problem {
  const Score& score;
  bool windowed, centred;
  std::size_t A = 21, C = 18;  // more than whole vectors
  std::vector<std::size_t> offsets{0, 1, 8, 27};
  std::vector<std::uint32_t> sentence{2, 0, 1}, first{3, 0, 2}, last{9, 1, 7};
  std::vector<Real> annotations, keys, v, query, centre{Real(6.3), Real(0.8), Real(4.5)}, weights;

  Problem(const Score& chosen, int window, std::uint64_t seed)
      : score(chosen), windowed(window > 0), centred(window > 1) {
    Random random(seed);
    const auto fill = [&](std::vector<Real>& values, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<Real>(random.normal() / 2));
    };
    fill(annotations, offsets.back() * C);
    fill(keys, offsets.back() * A);
    fill(v, A);
    if (!score.has_v) v.assign(A, score.scaled ? 1 / std::sqrt(static_cast<Real>(A)) : Real{1});
    fill(query, sentence.size() * A);
    fill(weights, sentence.size() * C);  // the loss is their product with the contexts
  }
  ScoredMemory memory() const {
    return {{offsets, {annotations.data(), offsets.back(), C}, {keys.data(), offsets.back(), A}}, &score, v};
  }
  Windows windows() const {
    Windows result;
    if (windowed) {
      result.first = first;
      result.last = last;
    }
    if (centred) {
      result.centre = centre;
      result.deviation = Real(2.5);
    }
    return result;
  }
  void forward(std::vector<Real>& alpha, std::vector<Real>& context) const {
    alpha.assign(sentence.size() * 20, Real(NAN));
    context.assign(sentence.size() * C, Real(NAN));
    scored_attention_forward({{memory(), sentence, windows(), {query.data(), sentence.size(), A}},
                              {alpha.data(), sentence.size(), 20},
                              {context.data(), sentence.size(), C}});
  }
  double loss() const {
    std::vector<Real> alpha, context;
    forward(alpha, context);
    return std::inner_product(context.begin(), context.end(), weights.begin(), 0.0);
  }
  /// Parameters with which s is q and h_j is k_j.
  reference::Parameters identities() const {
    reference::Matrix I{A, A, std::vector<double>(A * A, 0.0)};
    for (std::size_t a = 0; a < A; ++a) I.values[a * A + a] = 1;
    reference::Matrix joint = I;
    joint.rows = 2 * A;
    joint.values.insert(joint.values.end(), I.values.begin(), I.values.end());
    return {{"attention/W_a", score.joint ? joint : I},
            {"attention/U_a", I},
            {"attention/b_a", {1, A, std::vector<double>(A, 0.0)}},
            {"attention/v_a", {1, A, {v.begin(), v.end()}}}};
  }
  /// alpha [row][word] by the equations.
  std::vector<std::vector<double>> expected() const {
    std::vector<std::vector<double>> all;
    const auto& energy = reference::energy_of(std::string(score.name));
    const auto parameters = identities();
    const auto vector = [&](const std::vector<Real>& values, std::size_t row) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * A);
      return reference::Vector(begin, begin + static_cast<std::ptrdiff_t>(A));
    };
    for (std::size_t row = 0; row < sentence.size(); ++row) {
      const std::size_t begin = offsets[sentence[row]], Tx = offsets[sentence[row] + 1] - begin;
      std::vector<double> alpha(20, 0.0);
      double sum = 0;
      for (std::size_t j = windowed ? first[row] : 0; j < (windowed ? last[row] : Tx); ++j) {
        sum += alpha[j] = std::exp(energy(parameters, vector(query, row), vector(keys, begin + j)));
      }
      for (std::size_t j = 0; j < alpha.size(); ++j) {
        const double distance = static_cast<double>(j + 1) - static_cast<double>(centre[row]);
        alpha[j] *= (centred ? std::exp(-distance * distance / (2 * 2.5 * 2.5)) : 1) / sum;
      }
      all.push_back(alpha);
    }
    return all;
  }
};

TEST(Scores, HaveOneNameAndOneEquationEach) {
  std::vector<std::string> names;
  for (const Score& score : scores()) {
    names.emplace_back(score.name);
    EXPECT_EQ(find_score(score.name), &score);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, reference::score_names());
  EXPECT_EQ(find_score("none"), nullptr);
}

void expect_formula(double tolerance) {
  for (const Score& score : scores()) {
    for (const int window : {0, 1, 2}) {
      SCOPED_TRACE(testing::Message() << score.name << ", window " << window);
      const Problem problem(score, window, 3);
      std::vector<Real> alpha, context;
      problem.forward(alpha, context);
      const auto expected = problem.expected();
      for (std::size_t row = 0; row < expected.size(); ++row) {
        for (std::size_t j = 0; j < 20; ++j) {
          EXPECT_NEAR(alpha[row * 20 + j], expected[row][j], tolerance) << row << ", " << j;
          if (expected[row][j] == 0) {
            EXPECT_EQ(alpha[row * 20 + j], 0);
          }
        }
        for (std::size_t i = 0; i < problem.C; ++i) {
          double c = 0;
          const std::size_t begin = problem.offsets[problem.sentence[row]];
          const std::size_t Tx = problem.offsets[problem.sentence[row] + 1] - begin;
          for (std::size_t j = 0; j < Tx; ++j) c += expected[row][j] * problem.annotations[(begin + j) * problem.C + i];
          EXPECT_NEAR(context[row * problem.C + i], c, tolerance);
        }
      }
    }
  }
}

TEST(ScoredAttention, GivesTheFormulasWeightsAndContexts) {
  expect_formula(sizeof(Real) == 8 ? 1e-13 : 3e-6);
}

#ifdef RNNSEARCH_DOUBLE
TEST(ScoredAttention, HasTheGradientOfCentralDifferences) {
  for (const Score& score : scores()) {
    for (const int window : {0, 1, 2}) {
      SCOPED_TRACE(testing::Message() << score.name << ", window " << window);
      Problem p(score, window, 4);
      const std::size_t R = p.sentence.size(), words = p.offsets.back();
      std::vector<double> alpha, context;
      p.forward(alpha, context);
      std::vector<double> query(R * p.A, NAN), keys(words * p.A, 0.0), v(R * p.A, 0.0), centre(R, NAN);
      scored_attention_backward({{p.memory(), p.sentence, p.windows(), {p.query.data(), R, p.A}},
                                 {alpha.data(), R, 20},
                                 {p.weights.data(), R, p.C},
                                 {query.data(), R, p.A},
                                 {keys.data(), words, p.A},
                                 {v.data(), R, p.A},
                                 p.centred ? std::span<Real>(centre) : std::span<Real>()});
      std::vector<double> v_sum(p.A, 0.0);
      for (std::size_t i = 0; i < v.size(); ++i) v_sum[i % p.A] += v[i];
      const auto loss = [&] { return p.loss(); };
      support::expect_gradient(p.query, query, loss, {.name = "q"});
      support::expect_gradient(p.keys, keys, loss, {.name = "k"});
      support::expect_gradient(p.v, v_sum, loss, {.name = "v"});
      if (p.centred) support::expect_gradient(p.centre, centre, loss, {.name = "p"});
    }
  }
}
#endif

}  // namespace
}  // namespace rnnsearch::kernels
