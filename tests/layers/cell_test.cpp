#include "rnnsearch/layers/cell.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "rnnsearch/base/portable.h"
#include "tests/support/gradient_check.h"

namespace rnnsearch::layers {
namespace {

constexpr std::size_t n = 6, R = 3;

#ifdef RNNSEARCH_DOUBLE
struct Kind {
  const char* name;
  CellKind kind;
  bool normalised = false;
};
constexpr Kind kKinds[] = {
    {"tanh", CellKind::kTanh},
    {"gru", CellKind::kGru},
    {"gru_reset_after", CellKind::kGruResetAfter},
    {"lstm", CellKind::kLstm},
    {"mlp", CellKind::kMlp},
    {"mlp_encoder", CellKind::kMlpEncoder},
    {"normalised_tanh", CellKind::kTanh, true},
    {"normalised_gru", CellKind::kGruResetAfter, true},
    {"normalised_lstm", CellKind::kLstm, true},
};

/// All weights that a kind has, from the beginning of a block that is large enough. used: out, their number.
CellWeights weights_in(const Kind& of, std::vector<double>& block, std::size_t& used) {
  used = 0;
  const auto matrix = [&](std::size_t rows, std::size_t cols) {
    const Matrix view{block.data() + used, rows, cols};
    used += rows * cols;
    return view;
  };
  const auto vector = [&](std::size_t width) { return std::span(matrix(1, width).data, width); };
  CellWeights w;
  const CellKind kind = of.kind;
  const std::size_t x = cell_input_width(kind, n);
  w.U = matrix(n, kind == CellKind::kGru ? n : x);
  if (kind == CellKind::kGru) w.U_gates = matrix(n, 2 * n);
  if (kind == CellKind::kGruResetAfter && !of.normalised) w.b_U = vector(n);
  if (kind == CellKind::kMlp || kind == CellKind::kMlpEncoder) {
    w.W_2 = matrix(n / 2, n);
    w.b_2 = vector(n);
  }
  if (kind == CellKind::kMlpEncoder) {
    w.U_2 = matrix(n / 2, n);
    w.b_U = vector(n / 2);
  }
  if (!of.normalised) return w;
  w.x_normalisation = {vector(x), vector(x)};
  if (kind != CellKind::kTanh) w.U_normalisation = {vector(x), vector(x)};
  if (kind == CellKind::kLstm) w.c_normalisation = {vector(n), vector(n)};
  return w;
}

/// Two steps, of which the second reads what the first made, and a loss of both; with and without recurrent dropout.
class Cells : public testing::TestWithParam<std::tuple<Kind, bool>> {};

TEST_P(Cells, HaveTheGradientOfCentralDifferencesOverTwoSteps) {
  const auto& [kind_of_cell, drops] = GetParam();
  const CellKind kind = kind_of_cell.kind;
  const std::size_t X = cell_input_width(kind, n), S = cell_state_width(kind, n);
  Random random(5);
  const auto some = [&](std::size_t count) {
    std::vector<double> values(count);
    for (double& value : values) value = 0.7 * random.normal();
    return values;
  };
  std::vector<double> block = some(500), gradient(block.size(), 0.0);
  std::size_t used_weights = 0;
  std::vector<double> x = some(2 * R * X), first_state = some(R * S), share = some(2 * R * S);
  const auto weights = weights_in(kind_of_cell, block, used_weights);
  const auto cell = make_cell(kind, weights, weights_in(kind_of_cell, gradient, used_weights));
  ASSERT_LE(used_weights, block.size());

  std::vector<double> previous(2 * R * S), next(2 * R * S), used;
  const auto rows = [](std::vector<double>& values, std::size_t step, std::size_t cols) {
    return MatrixView<Real>{values.data() + step * R * cols, R, cols};
  };
  const std::vector<std::uint64_t> sentences{0, 1, 2, 0, 1, 2};
  const kernels::DropoutMask mask =
      drops ? kernels::DropoutMask{.share = 0.4, .key = 1, .sentences = sentences} : kernels::DropoutMask{};
  const kernels::Scratch memory;
  const auto step_of = [&](std::size_t step) {
    return CellStep{step * R, R, rows(used, step, X), rows(previous, step, S), rows(next, step, S)};
  };
  const auto loss = [&] {
    used = x;
    kernels::Scratch::Frame frame(memory);
    cell->begin(2 * R, R, frame, mask);
    cell->pack(frame);
    std::copy(first_state.begin(), first_state.end(), previous.begin());
    for (const std::size_t step : {0u, 1u}) {
      cell->forward(step_of(step));
      if (step == 0) std::copy_n(next.begin(), R * S, previous.begin() + R * S);
    }
    return std::inner_product(next.begin(), next.end(), share.begin(), 0.0);
  };
  loss();
  std::vector<double> next_gradient = share, previous_gradient(2 * R * S, 0.0);
  kernels::Scratch::Frame frame(memory);
  cell->begin_backward(frame);
  for (const std::size_t step : {1u, 0u}) {
    cell->backward(step_of(step), rows(next_gradient, step, S), rows(previous_gradient, step, S));
    if (step == 1) {
      for (std::size_t i = 0; i < R * S; ++i) next_gradient[i] += previous_gradient[R * S + i];
    }
  }
  const std::vector<double> x_gradient = used;  // takes the place of x
  cell->accumulate({previous.data(), 2 * R, S}, {x_gradient.data(), 2 * R, X});
  support::expect_gradient(x, x_gradient, loss, {.name = "x"});
  support::expect_gradient(first_state, {previous_gradient.data(), R * S}, loss, {.name = "h'"});
  support::expect_gradient(std::span(block).first(used_weights), std::span(gradient).first(used_weights), loss,
                           {.name = "weights"});
}

std::string name_of_case(const testing::TestParamInfo<std::tuple<Kind, bool>>& chosen) {
  return std::get<0>(chosen.param).name + std::string(std::get<1>(chosen.param) ? "_dropping" : "");
}
INSTANTIATE_TEST_SUITE_P(Every, Cells, testing::Combine(testing::ValuesIn(kKinds), testing::Bool()), name_of_case);
#else
TEST(LstmCell, FollowsTheEquations) {
  Random random(6);
  std::vector<float> U(n * 4 * n), none, x(R * 4 * n), previous(R * 2 * n), next(R * 2 * n);
  for (auto* values : {&U, &x, &previous}) {
    for (float& value : *values) value = static_cast<float>(random.normal());
  }
  const std::vector<float> sums = x;
  CellWeights weights;
  weights.U = {U.data(), n, 4 * n};
  const auto cell = make_cell(CellKind::kLstm, weights, weights);
  kernels::Scratch::Frame frame{kernels::Scratch()};
  cell->begin(R, R, frame);
  cell->pack(frame);
  cell->forward({0, R, {x.data(), R, 4 * n}, {previous.data(), R, 2 * n}, {next.data(), R, 2 * n}});
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t k = 0; k < n; ++k) {
      const auto sum = [&](std::size_t gate) {
        double s = sums[r * 4 * n + gate * n + k];
        for (std::size_t i = 0; i < n; ++i) {
          s += static_cast<double>(previous[r * 2 * n + i]) * static_cast<double>(U[i * 4 * n + gate * n + k]);
        }
        return s;
      };
      const auto sigma = [](double s) { return 1 / (1 + std::exp(-s)); };
      const double c =
          sigma(sum(2)) * static_cast<double>(previous[r * 2 * n + n + k]) + sigma(sum(1)) * std::tanh(sum(0));
      EXPECT_NEAR(next[r * 2 * n + n + k], c, 1e-5);
      EXPECT_NEAR(next[r * 2 * n + k], sigma(sum(3)) * std::tanh(c), 1e-5);
    }
  }
}
#endif

}  // namespace
}  // namespace rnnsearch::layers
