#include "rnnsearch/layers/gated_recurrence.h"

#include <gtest/gtest.h>

#include "tests/layers/fixtures.h"

namespace rnnsearch::layers {
namespace {

struct Owned {  // weights or their gradient
  Matrix W_in, U_gates, U, b;

  GatedWeights<double> views() { return {W_in.view(), U_gates.view(), U.view(), b.span()}; }
};

struct Case {
  Direction direction;
  bool gate_biases;
};

class GatedRecurrence : public testing::TestWithParam<Case> {
 protected:
  static constexpr std::size_t m = 4, n = 5;
  Random random{3};
  std::size_t biases = GetParam().gate_biases ? 3 * n : n;
  Owned weights{random_matrix(random, m, 3 * n), random_matrix(random, n, 2 * n), random_matrix(random, n, n),
                random_matrix(random, 1, biases)};
};

TEST_P(GatedRecurrence, BackwardEqualsCentralDifferences) {
  const Packing packing(std::vector<std::size_t>{3, 1, 6, 3, 1, 5});
  const std::size_t words = packing.words();
  Matrix input = random_matrix(random, words, m);
  const Matrix above = random_matrix(random, words, n);
  GatedActivations<double> activations;
  Matrix states(words, n);
  const auto loss = [&] {
    gated_forward<double>(weights.views(), packing, GetParam().direction, input.view(), activations, states.view());
    return weighted_sum(above, states.view());
  };
  loss();
  Owned gradient{Matrix(m, 3 * n, kBefore), Matrix(n, 2 * n, kBefore), Matrix(n, n, kBefore),
                 Matrix(1, biases, kBefore)};
  Matrix input_gradient(words, m, kBefore), used_up = above;
  gated_backward<double>(weights.views(), gradient.views(), packing, GetParam().direction, input.view(), activations,
                         states.view(), used_up.view(), input_gradient.view());
  expect_gradient("W_in", weights.W_in.span(), gradient.W_in.span(), kBefore, loss);
  expect_gradient("U_gates", weights.U_gates.span(), gradient.U_gates.span(), kBefore, loss);
  expect_gradient("U", weights.U.span(), gradient.U.span(), kBefore, loss);
  expect_gradient("b", weights.b.span(), gradient.b.span(), kBefore, loss);
  expect_gradient("input", input.span(), input_gradient.span(), kBefore, loss);
}

/// A larger batch before, so that memory kept from it cannot hide: each sentence alone gives the batch's states.
TEST_P(GatedRecurrence, GivesEachSentenceTheStatesItHasAlone) {
  const std::vector<std::size_t> lengths = {3, 1, 6, 3};
  const Packing packing(lengths);
  Matrix input = random_matrix(random, packing.words(), m);
  GatedActivations<double> together, alone;
  Matrix earlier = random_matrix(random, 40, m), earlier_states(40, n), states(packing.words(), n);
  gated_forward<double>(weights.views(), Packing(std::vector<std::size_t>{20, 20}), GetParam().direction,
                        earlier.view(), together, earlier_states.view());
  gated_forward<double>(weights.views(), packing, GetParam().direction, input.view(), together, states.view());
  for (std::size_t p = 0; p < packing.sentences(); ++p) {
    const std::size_t length = lengths[packing.order[p]];
    Matrix one(length, m), one_states(length, n);
    for (std::size_t t = 0; t < length; ++t) {
      for (std::size_t j = 0; j < m; ++j) one.view()(t, j) = input.view()(packing.first_row[t] + p, j);
    }
    gated_forward<double>(weights.views(), Packing(std::vector<std::size_t>{length}), GetParam().direction, one.view(),
                          alone, one_states.view());
    for (std::size_t t = 0; t < length; ++t) {
      for (std::size_t j = 0; j < n; ++j) {
        EXPECT_NEAR(states.view()(packing.first_row[t] + p, j), one_states.view()(t, j), 1e-14);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, GatedRecurrence,
                         testing::Values(Case{Direction::kForward, false}, Case{Direction::kForward, true},
                                         Case{Direction::kBackward, false}, Case{Direction::kBackward, true}),
                         [](const auto& chosen) {
                           return std::string(chosen.param.direction == Direction::kForward ? "forward" : "backward") +
                                  (chosen.param.gate_biases ? "_gate_biases" : "");
                         });

}  // namespace
}  // namespace rnnsearch::layers
