#include "rnnsearch/layers/recurrent_layer.h"

#include <gtest/gtest.h>

#include "tests/layers/fixtures.h"

namespace rnnsearch::layers {
namespace {

struct Owned {  // weights or their gradient
  Matrix W_in, U_gates, U, b;

  RecurrentWeights views() {
    RecurrentWeights weights;
    weights.W_in = W_in.view();
    weights.b = b.span();
    weights.cell.U = U.view();
    weights.cell.U_gates = U_gates.view();
    return weights;
  }
};

struct Case {
  CellKind kind;
  Direction direction;
  bool gate_biases;
};

class RecurrentLayers : public testing::TestWithParam<Case> {
 protected:
  static constexpr std::size_t m = 4, n = 5;
  CellKind kind = GetParam().kind;
  Random random{3};
  std::size_t wide = cell_input_width(kind, n), S = cell_state_width(kind, n);
  std::size_t biases = GetParam().gate_biases ? wide : n, gates = kind == CellKind::kGru ? 2 * n : 0;
  std::size_t recurrent = kind == CellKind::kGru ? n : wide;
  Owned weights{random_matrix(random, m, wide), random_matrix(random, n, gates), random_matrix(random, n, recurrent),
                random_matrix(random, 1, biases)};
  Owned gradient{Matrix(m, wide, kBefore), Matrix(n, gates, kBefore), Matrix(n, recurrent, kBefore),
                 Matrix(1, biases, kBefore)};

  RecurrentLayer layer() { return {kind, n, GetParam().direction, weights.views(), gradient.views(), memory}; }
  /// Of `distinct` rows, whose places in the batch are these.
  void check_backward(std::size_t distinct, std::span<const std::uint32_t> place);

  const std::vector<std::size_t> lengths = {3, 1, 6, 3, 1, 5};
  const Packing packing{lengths};
  kernels::Scratch memory;
};

TEST_P(RecurrentLayers, BackwardEqualsCentralDifferences) {
  const std::size_t words = packing.words();
  std::vector<std::uint32_t> place;
  for (std::size_t i = 0; i < words; ++i) place.push_back(static_cast<std::uint32_t>(random.below(4)));
  check_backward(4, place);
}

TEST_P(RecurrentLayers, BackwardOfRowsThatDoNotRepeatEqualsCentralDifferences) {
  check_backward(packing.words(), {});
}

void RecurrentLayers::check_backward(std::size_t distinct, std::span<const std::uint32_t> place) {
  const std::size_t words = packing.words();
  Matrix input = random_matrix(random, distinct, m);
  const RepeatedRows repeated{input.view(), place};
  const Matrix above = random_matrix(random, words, S);
  auto one = layer();
  Matrix states(words, S);
  const auto loss = [&] {
    one.forward(packing, repeated, states.view());
    return weighted_sum(above, states.view());
  };
  loss();
  Matrix input_gradient(distinct, m, kBefore), used_up = above;
  kernels::Scratch::Frame frame(memory);
  one.backward(packing, repeated, states.view(), used_up.view(), input_gradient.view(), frame);
  const Matrix complete = input_gradient;
  one.accumulate(repeated);
  EXPECT_EQ(complete.values, input_gradient.values);
  expect_gradient("W_in", weights.W_in.span(), gradient.W_in.span(), kBefore, loss);
  if (gates > 0) expect_gradient("U_gates", weights.U_gates.span(), gradient.U_gates.span(), kBefore, loss);
  expect_gradient("U", weights.U.span(), gradient.U.span(), kBefore, loss);
  expect_gradient("b", weights.b.span(), gradient.b.span(), kBefore, loss);
  expect_gradient("input", input.span(), input_gradient.span(), kBefore, loss);
}

/// A larger batch before, so that memory kept from it cannot hide: each sentence alone gives the batch's states.
TEST_P(RecurrentLayers, GiveEachSentenceTheStatesItHasAlone) {
  Matrix input = random_matrix(random, packing.words(), m);
  auto together = layer(), alone = layer();
  Matrix earlier = random_matrix(random, 40, m), earlier_states(40, S), states(packing.words(), S);
  together.forward(Packing(std::vector<std::size_t>{20, 20}), {earlier.view()}, earlier_states.view());
  together.forward(packing, {input.view()}, states.view());
  for (std::size_t p = 0; p < packing.sentences(); ++p) {
    const std::size_t length = lengths[packing.order[p]];
    Matrix one(length, m), one_states(length, S);
    for (std::size_t t = 0; t < length; ++t) {
      for (std::size_t j = 0; j < m; ++j) one.view()(t, j) = input.view()(packing.first_row[t] + p, j);
    }
    alone.forward(Packing(std::vector<std::size_t>{length}), {one.view()}, one_states.view());
    for (std::size_t t = 0; t < length; ++t) {
      for (std::size_t j = 0; j < S; ++j) {
        EXPECT_NEAR(states.view()(packing.first_row[t] + p, j), one_states.view()(t, j), 1e-14);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, RecurrentLayers,
                         testing::Values(Case{CellKind::kGru, Direction::kForward, false},
                                         Case{CellKind::kGru, Direction::kForward, true},
                                         Case{CellKind::kGru, Direction::kBackward, false},
                                         Case{CellKind::kGru, Direction::kBackward, true},
                                         Case{CellKind::kGruResetAfter, Direction::kBackward, true},
                                         Case{CellKind::kLstm, Direction::kForward, true},
                                         Case{CellKind::kLstm, Direction::kBackward, false},
                                         Case{CellKind::kTanh, Direction::kBackward, false}),
                         [](const auto& chosen) {
                           const CellKind kind = chosen.param.kind;
                           const std::string cell = kind == CellKind::kGru             ? "gru"
                                                    : kind == CellKind::kGruResetAfter ? "gru_reset_after"
                                                    : kind == CellKind::kLstm          ? "lstm"
                                                                                       : "tanh";
                           return cell + (chosen.param.direction == Direction::kForward ? "_forward" : "_backward") +
                                  (chosen.param.gate_biases ? "_gate_biases" : "");
                         });

}  // namespace
}  // namespace rnnsearch::layers
