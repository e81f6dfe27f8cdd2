// A layer of gated units: a whole pass over 80 sentences of 25 words and </s>. Shapes are sentences x words x input
// width x state width. GFLOP are those of the products.
#include "rnnsearch/layers/recurrent_layer.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/bench.h"

namespace rnnsearch::layers {
namespace {

using support::kSentences;
using support::Operand;

constexpr float kWeight = 0.05F;  // states neither vanish nor saturate

struct Weights {
  Operand W_in, U_gates, U, b;
  Weights(std::size_t m, std::size_t n)
      : W_in(m, 3 * n, kWeight), U_gates(n, 2 * n, kWeight), U(n, n, kWeight), b(1, n, kWeight) {}
  RecurrentWeights views() const {
    RecurrentWeights weights;
    weights.W_in = W_in.view();
    weights.b = b.span();
    weights.cell.U = U.view();
    weights.cell.U_gates = U_gates.view();
    return weights;
  }
};

void add_passes(const support::ModelSize& size) {
  const std::size_t m = size.embedding, n = size.state, X = support::kWords;
  const std::string name = size.name + std::string("/") + support::shape_text({kSentences, support::kSteps, m, n});
  // Forward; the first step has no state before it. Backward has each product twice: for its input and its weights.
  const double gflop = 2e-9 * static_cast<double>(X * m * 3 * n + (X - kSentences) * n * 2 * n + X * n * n);
  for (const bool backward : {false, true}) {
    support::add_for_precisions(
        (backward ? "gru_layer_backward/" : "gru_layer_forward/") + name, [=](benchmark::State& state) {
          const Packing packing(std::vector<std::size_t>(kSentences, support::kSteps));
          const Weights weights(m, n), gradient(m, n);
          const Operand input(X, m), above(X, n), states(X, n), state_gradient(X, n), input_gradient(X, m);
          const kernels::Scratch memory;
          RecurrentLayer layer(CellKind::kGru, n, Direction::kForward, weights.views(), gradient.views(), memory);
          const auto forward = [&] { layer.forward(packing, {input.view()}, states.view()); };
          if (!backward) {
            support::measure(state, {.gflop = gflop}, forward);
            return;
          }
          forward();
          support::measure(
              state, {.gflop = 2 * gflop},
              [&] {
                kernels::Scratch::Frame frame(memory);
                layer.backward(packing, {input.view()}, states.view(), state_gradient.view(), input_gradient.view(),
                               frame);
                layer.accumulate({input.view()});
              },
              [&] { std::ranges::copy(above.span(), state_gradient.span().begin()); });  // it is used up
        });
  }
}

[[maybe_unused]] const bool registered = [] {
  for (const support::ModelSize& size : support::kSizes) {
    add_passes(size);
  }
  return true;
}();

}  // namespace
}  // namespace rnnsearch::layers
