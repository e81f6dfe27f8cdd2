#include "rnnsearch/layers/soft_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "rnnsearch/base/portable.h"
#include "rnnsearch/kernels/scores.h"
#include "tests/support/gradient_check.h"
#include "tests/support/scores.h"

namespace rnnsearch::layers {
namespace {

using kernels::Score;

/// Three sentences of 1, 6 and 11 words, looked at in two steps: by all of them, then by the first two of the order.
class Problem {
 public:
  Problem(const Score& chosen, WindowKind window_kind, std::uint64_t seed)
      : score(chosen), kind(window_kind), C(chosen.needs_equal_widths() ? n : 23), A(chosen.width(n, C, 21)) {
    Random random(seed);
    const auto some = [&](std::size_t count) {
      std::vector<Real> values(count);
      for (Real& value : values) value = static_cast<Real>(0.3 * random.normal());
      return values;
    };
    block = some(size());
    gradient.assign(block.size(), Real{0});
    annotations = some(offsets.back() * C);
    states = some(kRows * n);
    share = some(kRows * C);
  }

  SoftAttentionWeights weights_in(std::vector<Real>& values) const {
    Real* at = values.data();
    const auto take = [&](std::size_t count) { return std::exchange(at, at + count); };
    SoftAttentionWeights w;
    if (score.projects_query) w.W_a = {take(n * A), n, A};
    if (score.projects_keys) w.U_a = {take(C * A), C, A};  // below W_a, as the joint matrix has it
    if (score.has_bias) w.b_a = {take(A), A};
    if (score.has_v) w.v_a = {take(A), A};
    if (kind == WindowKind::kLocalP) {
      w.W_p = {take(n * P), n, P};
      w.v_p = {take(P), P};
    }
    return w;
  }

  /// The contexts of both steps; alpha stays in `attention`.
  std::vector<Real> forward() {
    frame.reset();
    attention.emplace(score, kind, D, A, weights_in(block), weights_in(gradient));
    keys.resize(offsets.back() * A);
    if (attention->has_keys()) attention->keys(annotations_view(), {keys.data(), offsets.back(), A});
    std::vector<Real> contexts(kRows * C, Real(NAN));
    attention->begin(kRows, 11);
    frame.emplace(scratch);
    attention->pack(*frame);
    for (const auto& [first, R] : kSteps) {
      attention->forward(first, memory(), std::span(kSentence).subspan(first, R), state_rows(first, R),
                         std::span(kPositions).subspan(first, R), {contexts.data() + first * C, R, C});
    }
    return contexts;
  }

  double loss() {
    const auto contexts = forward();
    return std::inner_product(contexts.begin(), contexts.end(), share.begin(), 0.0);
  }

  void expect_equations(double tolerance) {
    const auto contexts = forward();
    const auto parameters = named();
    const auto& energy = reference::energy_of(std::string(score.name));
    for (std::size_t row = 0; row < kRows; ++row) {
      const std::size_t begin = offsets[kSentence[row]], Tx = offsets[kSentence[row] + 1] - begin;
      const auto s = vector(states, row, n);
      const auto longest = static_cast<double>(Tx);
      double centre = std::min<double>(kPositions[row], longest - 1) + 1;  // words count from 1
      if (kind == WindowKind::kLocalP) {
        auto hidden = reference::product(s, parameters.at("W_p"));
        for (double& value : hidden) value = std::tanh(value);
        centre = longest / (1 + std::exp(-reference::dot(hidden, parameters.at("v_p").values)));
      }
      reference::Vector alpha(11, 0.0), context(C, 0.0);
      double sum = 0;
      for (std::size_t j = 0; j < Tx; ++j) {
        const double distance = std::abs(static_cast<double>(j + 1) - centre);
        if (kind != WindowKind::kGlobal && distance > static_cast<double>(D)) continue;
        sum += alpha[j] = std::exp(energy(parameters, s, vector(annotations, begin + j, C)));
      }
      for (std::size_t j = 0; j < Tx; ++j) {
        const double distance = (static_cast<double>(j + 1) - centre) / (static_cast<double>(D) / 2);
        alpha[j] *= (kind == WindowKind::kLocalP ? std::exp(-distance * distance / 2) : 1) / sum;
        for (std::size_t i = 0; i < C; ++i) context[i] += alpha[j] * vector(annotations, begin + j, C)[i];
      }
      for (std::size_t j = 0; j < alpha.size(); ++j) {
        EXPECT_NEAR(attention->alpha()(row, j), alpha[j], tolerance) << row << ", " << j;
        if (alpha[j] == 0) {
          EXPECT_EQ(attention->alpha()(row, j), 0) << row << ", " << j;
        }
      }
      for (std::size_t i = 0; i < C; ++i) EXPECT_NEAR(contexts[row * C + i], context[i], tolerance) << row;
    }
  }

#ifdef RNNSEARCH_DOUBLE
  /// Of the weights, the states and the annotations.
  void expect_gradients() {
    gradient.assign(block.size(), Real{0});
    forward();
    const std::size_t words = offsets.back();
    std::vector<Real> states_gradient(states.size(), Real{0}), keys_gradient(words * A, Real{0});
    attention->begin_backward(offsets.size() - 1, *frame);
    for (const auto& [first, R] : {kSteps[1], kSteps[0]}) {
      attention->backward(first, memory(), std::span(kSentence).subspan(first, R), {share.data() + first * C, R, C},
                          {states_gradient.data() + first * n, R, n}, {keys_gradient.data(), words, A});
    }
    attention->accumulate({states.data(), kRows, n});
    std::vector<Real> annotations_gradient(words * C, Real{0});
    const std::vector<std::uint32_t> rows{2, 1, 3, 0, 4};  // of each sentence's steps
    const std::vector<std::size_t> of_sentence{0, 1, 3, 5};
    kernels::annotations_backward({offsets,
                                   of_sentence,
                                   rows,
                                   attention->alpha(),
                                   {share.data(), kRows, C},
                                   {annotations_gradient.data(), words, C}});
    if (attention->has_keys()) {
      attention->keys_backward(annotations_view(), {keys_gradient.data(), words, A},
                               {annotations_gradient.data(), words, C});
    } else {
      for (std::size_t i = 0; i < keys_gradient.size(); ++i) annotations_gradient[i] += keys_gradient[i];
    }
    const auto of_loss = [&] { return loss(); };
    support::expect_gradient(states, states_gradient, of_loss, {.name = "s"});
    support::expect_gradient(annotations, annotations_gradient, of_loss, {.name = "h"});
    const std::vector<Real> found = gradient;
    support::expect_gradient(block, found, of_loss, {.name = "weights"});
  }
#endif

 private:
  static constexpr std::size_t n = 19, P = 4, D = 2, kRows = 5;  // widths of more than a vector
  static constexpr std::pair<std::size_t, std::size_t> kSteps[] = {{0, 3}, {3, 2}};
  static constexpr std::uint32_t kSentence[] = {2, 1, 0, 1, 2}, kPositions[] = {0, 3, 1, 9, 6};

  std::size_t size() const {
    return (score.projects_query ? n * A : 0) + (score.projects_keys ? C * A : 0) + (score.has_bias ? A : 0) +
           (score.has_v ? A : 0) + (kind == WindowKind::kLocalP ? n * P + P : 0);
  }
  ConstMatrix annotations_view() const {
    return {annotations.data(), offsets.back(), C};
  }
  ConstMatrix state_rows(std::size_t first, std::size_t R) const {
    return {states.data() + first * n, R, n};
  }
  kernels::AttentionMemory memory() const {
    return {offsets, annotations_view(),
            attention->has_keys() ? ConstMatrix{keys.data(), offsets.back(), A} : annotations_view()};
  }
  static reference::Vector vector(const std::vector<Real>& values, std::size_t row, std::size_t cols) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * cols);
    return {begin, begin + static_cast<std::ptrdiff_t>(cols)};
  }
  reference::Parameters named() {
    const auto w = weights_in(block);
    reference::Parameters all;
    const auto add = [&](const std::string& name, const Real* values, std::size_t rows, std::size_t cols) {
      if (values) all[name] = {rows, cols, {values, values + rows * cols}};
    };
    add("attention/W_a", w.W_a.data, score.joint ? n + C : n, A);
    add("attention/U_a", w.U_a.data, C, A);
    add("attention/b_a", w.b_a.data(), 1, A);
    add("attention/v_a", w.v_a.data(), 1, A);
    add("W_p", w.W_p.data, n, P);
    add("v_p", w.v_p.data(), 1, P);
    return all;
  }

  const Score& score;
  WindowKind kind;
  std::size_t C, A;
  std::vector<std::size_t> offsets{0, 1, 7, 18};
  std::vector<Real> block, gradient, annotations, keys, states, share;
  std::optional<SoftAttention> attention;
  kernels::Scratch scratch;
  std::optional<kernels::Scratch::Frame> frame;
};

class SoftAttentions : public testing::TestWithParam<std::tuple<std::size_t, WindowKind>> {
 protected:
  const Score& score() const { return kernels::scores()[std::get<0>(GetParam())]; }
  WindowKind window() const { return std::get<1>(GetParam()); }
};

TEST_P(SoftAttentions, FollowTheEquations) {
  Problem(score(), window(), 7).expect_equations(sizeof(Real) == 4 ? 3e-6 : 1e-13);
}

#ifdef RNNSEARCH_DOUBLE
TEST_P(SoftAttentions, HaveTheGradientOfCentralDifferences) {
  Problem(score(), window(), 8).expect_gradients();
}
#endif

std::string name_of_case(const testing::TestParamInfo<std::tuple<std::size_t, WindowKind>>& chosen) {
  std::string name =
      std::string(kernels::scores()[std::get<0>(chosen.param)].name) + "_" + name_of(std::get<1>(chosen.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Every, SoftAttentions,
                         testing::Combine(testing::Range(std::size_t{0}, kernels::scores().size()),
                                          testing::Values(WindowKind::kGlobal, WindowKind::kLocalM,
                                                          WindowKind::kLocalP)),
                         name_of_case);

}  // namespace
}  // namespace rnnsearch::layers
