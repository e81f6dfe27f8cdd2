#include "rnnsearch/layers/decoder.h"

#include <gtest/gtest.h>

#include "tests/layers/fixtures.h"

namespace rnnsearch::layers {
namespace {

struct Owned {  // weights or their gradient
  Matrix W_in, U_query_gates, U, C, b, v_a;

  DecoderWeights<double> views() {
    return {W_in.view(), U_query_gates.view(), U.view(), C.view(), b.span(), v_a.span()};
  }
};

struct Case {
  bool attention, gate_biases;
};

class Decoder : public testing::TestWithParam<Case> {};

TEST_P(Decoder, BackwardEqualsCentralDifferences) {
  const bool attention = GetParam().attention;
  constexpr std::size_t m = 3, n = 4, kContext = 6;
  const std::size_t A = attention ? 5 : 0, biases = GetParam().gate_biases ? 3 * n : n;
  Random random(4);
  Owned weights{random_matrix(random, m, 3 * n),  random_matrix(random, n, A + 2 * n),
                random_matrix(random, n, n),      random_matrix(random, kContext, 3 * n),
                random_matrix(random, 1, biases), random_matrix(random, 1, A)};
  Owned gradient{Matrix(m, 3 * n, kBefore),        Matrix(n, A + 2 * n, kBefore), Matrix(n, n, kBefore),
                 Matrix(kContext, 3 * n, kBefore), Matrix(1, biases, kBefore),    Matrix(1, A, kBefore)};

  const Packing packing(std::vector<std::size_t>{2, 5, 1, 5, 3});  // targets
  const std::vector<std::size_t> offsets = {0, 4, 5, 11, 13, 20};  // sources, in the caller's order
  const std::size_t Y = packing.words(), B = packing.sentences(), X = offsets.back();
  Matrix words = random_matrix(random, 4, m), initial = random_matrix(random, B, n);
  std::vector<std::uint32_t> place;
  for (std::size_t i = 0; i < Y; ++i) place.push_back(static_cast<std::uint32_t>(random.below(4)));
  Matrix annotations = random_matrix(random, X, kContext), keys = random_matrix(random, X, A);
  Matrix fixed = random_matrix(random, B, kContext);
  const kernels::AttentionMemory<double> memory{offsets, annotations.view(), keys.view(), weights.v_a.span()};
  DecoderInput<double> input{{words.view(), place}, initial.view(), nullptr, {}};
  if (attention) {
    input.memory = &memory;
  } else {
    input.fixed_context = fixed.view();
  }

  // Two losses: of the states (s_0 among them) and of the contexts, as the readout gives them.
  const Matrix above_previous = random_matrix(random, Y, n), above_context = random_matrix(random, Y, kContext);
  DecoderActivations<double> activations;
  const auto loss = [&] {
    decoder_forward<double>(weights.views(), packing, input, activations);
    return weighted_sum(above_previous, activations.previous.view()) +
           weighted_sum(above_context, activations.context.view());
  };
  loss();
  Matrix previous = above_previous, context = above_context, words_gradient(4, m, kBefore);
  Matrix annotations_gradient(X, kContext, kBefore), keys_gradient(X, A, kBefore);
  decoder_backward<double>(
      weights.views(), gradient.views(), packing, input, activations,
      {previous.view(), context.view(), words_gradient.view(), annotations_gradient.view(), keys_gradient.view()});

  expect_gradient("W_in", weights.W_in.span(), gradient.W_in.span(), kBefore, loss);
  expect_gradient("U_query_gates", weights.U_query_gates.span(), gradient.U_query_gates.span(), kBefore, loss);
  expect_gradient("U", weights.U.span(), gradient.U.span(), kBefore, loss);
  expect_gradient("C", weights.C.span(), gradient.C.span(), kBefore, loss);
  expect_gradient("b", weights.b.span(), gradient.b.span(), kBefore, loss);
  expect_gradient("words", words.span(), words_gradient.span(), kBefore, loss);
  expect_gradient("s_0", initial.span(), previous.span().first(B * n), 0, loss);
  if (attention) {
    expect_gradient("v_a", weights.v_a.span(), gradient.v_a.span(), kBefore, loss);
    expect_gradient("annotations", annotations.span(), annotations_gradient.span(), kBefore, loss);
    expect_gradient("keys", keys.span(), keys_gradient.span(), kBefore, loss);
  } else {  // one context for all steps of a sentence: its gradient is the sum of theirs
    Matrix fixed_gradient(B, kContext);
    for (std::size_t t = 0; t < packing.steps(); ++t) {
      for (std::size_t p = 0; p < packing.active[t]; ++p) {
        for (std::size_t j = 0; j < kContext; ++j) {
          fixed_gradient.view()(p, j) += context.view()(packing.first_row[t] + p, j);
        }
      }
    }
    expect_gradient("context", fixed.span(), fixed_gradient.span(), 0, loss);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Decoder,
                         testing::Values(Case{true, false}, Case{true, true}, Case{false, false}, Case{false, true}),
                         [](const auto& chosen) {
                           return std::string(chosen.param.attention ? "attention" : "fixed_context") +
                                  (chosen.param.gate_biases ? "_gate_biases" : "");
                         });

}  // namespace
}  // namespace rnnsearch::layers
