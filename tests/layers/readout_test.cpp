#include "rnnsearch/layers/readout.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/layers/fixtures.h"

namespace rnnsearch::layers {
namespace {

struct Owned {  // weights or their gradient
  Matrix U_o, V_o, C_o, b_o, W_o_left, W_o, b_w;

  ReadoutWeights<double> views() {
    return {U_o.view(), V_o.view(), C_o.view(), b_o.span(), W_o_left.rows > 0 ? W_o_left.view() : MatrixView<double>{},
            W_o.view(), b_w.span()};
  }
};

std::span<const double> values_of(ConstMatrixView<double> whole) {
  return {whole.data, whole.rows * whole.cols};
}

class Readout : public testing::TestWithParam<std::size_t> {  // rank of the output matrix, 0: not factored
 protected:
  static constexpr std::size_t n = 4, m = 3, kContext = 5, l = 6, K = 11, R = 9;
  std::size_t rank = GetParam();
  Random random{5};
  Owned weights{random_matrix(random, n, 2 * l),
                random_matrix(random, m, 2 * l),
                random_matrix(random, kContext, 2 * l),
                random_matrix(random, 1, 2 * l),
                rank > 0 ? random_matrix(random, l, rank) : Matrix(),
                random_matrix(random, rank > 0 ? rank : l, K),
                random_matrix(random, 1, K)};
  Matrix state = random_matrix(random, R, n), word = random_matrix(random, R, m);
  Matrix context = random_matrix(random, R, kContext);
  std::vector<WordId> target = {3, 0, 10, 3, 5, 2, 2, 9, 3};
  ReadoutActivations<double> activations;

  ReadoutInput<double> input() { return {state.view(), word.view(), context.view()}; }
  std::vector<double> losses() {
    std::vector<double> result(R, -1);
    readout_loss<double>(weights.views(), input(), target, activations, result);
    return result;
  }
  void expect_central_differences(double label_smoothing);
};

void Readout::expect_central_differences(double label_smoothing) {
  const auto loss = [&] {  // from the log-probabilities, word by word
    Matrix log_p(R, K);
    activations.output.packed = false;  // the weights have changed
    readout_log_probabilities<double>(weights.views(), input(), activations, log_p.view());
    double sum = 0;
    for (std::size_t i = 0; i < R; ++i) {
      for (std::size_t k = 0; k < K; ++k) {
        sum -= ((k == target[i] ? 1 - label_smoothing : 0) + label_smoothing / K) * log_p.view()(i, k);
      }
    }
    return sum;
  };
  Owned gradient{Matrix(n, 2 * l, kBefore),
                 Matrix(m, 2 * l, kBefore),
                 Matrix(kContext, 2 * l, kBefore),
                 Matrix(1, 2 * l, kBefore),
                 rank > 0 ? Matrix(l, rank, kBefore) : Matrix(),
                 Matrix(weights.W_o.rows, K, kBefore),
                 Matrix(1, K, kBefore)};
  std::vector<double> found(R, -1);
  kernels::Scratch::Frame frame(activations.memory);
  const auto gradients = readout_loss_and_backward<double>(weights.views(), gradient.views(), input(), target,
                                                           activations, found, frame, label_smoothing);
  const std::vector<double> expected = losses();
  for (std::size_t i = 0; i < R; ++i) EXPECT_NEAR(found[i], expected[i], 1e-12);
  expect_gradient("U_o", weights.U_o.span(), gradient.U_o.span(), kBefore, loss);
  expect_gradient("V_o", weights.V_o.span(), gradient.V_o.span(), kBefore, loss);
  expect_gradient("C_o", weights.C_o.span(), gradient.C_o.span(), kBefore, loss);
  expect_gradient("b_o", weights.b_o.span(), gradient.b_o.span(), kBefore, loss);
  if (rank > 0) expect_gradient("W_o_left", weights.W_o_left.span(), gradient.W_o_left.span(), kBefore, loss);
  expect_gradient("W_o", weights.W_o.span(), gradient.W_o.span(), kBefore, loss);
  expect_gradient("b_w", weights.b_w.span(), gradient.b_w.span(), kBefore, loss);
  expect_gradient("state", state.span(), values_of(gradients.state), 0, loss);
  expect_gradient("word", word.span(), values_of(gradients.word), 0, loss);
  expect_gradient("context", context.span(), values_of(gradients.context), 0, loss);
}

TEST_P(Readout, BackwardEqualsCentralDifferences) {
  expect_central_differences(0);
}

TEST_P(Readout, BackwardEqualsCentralDifferencesOfTheSmoothedLoss) {
  expect_central_differences(0.2);
}

TEST_P(Readout, LosesMinusTheLogarithmOfTheTargetsProbability) {
  Matrix log_p(R, K);
  readout_log_probabilities<double>(weights.views(), input(), activations, log_p.view());
  const std::vector<double> loss = losses();
  for (std::size_t i = 0; i < R; ++i) {
    double total = 0;
    for (std::size_t k = 0; k < K; ++k) total += std::exp(log_p.view()(i, k));
    EXPECT_NEAR(total, 1, 1e-13);
    EXPECT_NEAR(loss[i], -log_p.view()(i, target[i]), 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(PlainAndFactored, Readout, testing::Values(0, 1, 7),
                         [](const auto& chosen) { return "rank_" + std::to_string(chosen.param); });

/// Logits exist a block of rows at a time: many blocks, the last one not whole, must give what each row gives alone.
TEST(ReadoutBlocks, GiveEachRowTheLossItHasAlone) {
  constexpr std::size_t n = 8, m = 5, kContext = 6, l = 7, K = 3001, R = 1037;
  Random random(6);
  Owned weights{random_matrix(random, n, 2 * l),
                random_matrix(random, m, 2 * l),
                random_matrix(random, kContext, 2 * l),
                random_matrix(random, 1, 2 * l),
                Matrix(),
                random_matrix(random, l, K),
                random_matrix(random, 1, K)};
  Matrix state = random_matrix(random, R, n), word = random_matrix(random, R, m);
  Matrix context = random_matrix(random, R, kContext);
  std::vector<WordId> target(R);
  for (WordId& t : target) t = static_cast<WordId>(random.below(K));
  ReadoutActivations<double> activations;
  const ReadoutInput<double> input{state.view(), word.view(), context.view()};

  const auto rows_gradient = [&](std::size_t first, std::size_t count, std::vector<double>& loss, Owned& gradient) {
    kernels::Scratch::Frame frame(activations.memory);
    const auto [ds, dw, dc] = readout_loss_and_backward<double>(
        weights.views(), gradient.views(),
        {input.state.row_range(first, count), input.word.row_range(first, count),
         input.context.row_range(first, count)},
        std::span(target).subspan(first, count), activations, std::span(loss).subspan(first, count), frame);
    Matrix rows(count, n + m + kContext);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < n; ++j) rows.view()(i, j) = ds(i, j);
      for (std::size_t j = 0; j < m; ++j) rows.view()(i, n + j) = dw(i, j);
      for (std::size_t j = 0; j < kContext; ++j) rows.view()(i, n + m + j) = dc(i, j);
    }
    return rows;
  };
  const auto zero = [&] {
    return Owned{Matrix(n, 2 * l), Matrix(m, 2 * l), Matrix(kContext, 2 * l), Matrix(1, 2 * l), Matrix(),
                 Matrix(l, K),     Matrix(1, K)};
  };
  std::vector<double> together(R, -1), forward_only(R, -1), alone(R, -1);
  Owned together_gradient = zero(), alone_gradient = zero();
  readout_loss<double>(weights.views(), input, target, activations, forward_only);
  Matrix rows = rows_gradient(0, R, together, together_gradient);
  for (std::size_t i = 0; i < R; i += 61) {
    const std::size_t count = std::min<std::size_t>(61, R - i);
    Matrix some = rows_gradient(i, count, alone, alone_gradient);
    for (std::size_t k = 0; k < some.values.size(); ++k) {
      ASSERT_NEAR(rows.values[i * rows.cols + k], some.values[k], 1e-12) << "row " << i + k / rows.cols;
    }
  }
  for (std::size_t i = 0; i < R; ++i) {
    ASSERT_NEAR(together[i], alone[i], 1e-12) << i;
    ASSERT_NEAR(forward_only[i], alone[i], 1e-12) << i;
  }
  for (std::size_t k = 0; k < together_gradient.W_o.values.size(); ++k) {
    ASSERT_NEAR(together_gradient.W_o.values[k], alone_gradient.W_o.values[k], 1e-10) << k;
  }
  for (std::size_t k = 0; k < K; ++k) ASSERT_NEAR(together_gradient.b_w.values[k], alone_gradient.b_w.values[k], 1e-10);
}

}  // namespace
}  // namespace rnnsearch::layers
