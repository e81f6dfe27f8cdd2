// The alignment model's elementwise part: one decoder step. Shapes are sentences x source words x alignment width;
// items are their product, the tanh computed.
#include "rnnsearch/kernels/scores.h"

#include <string>
#include <vector>

#include "tests/support/bench.h"

namespace rnnsearch::kernels {
namespace {

using support::Operand;

// A batch of sentences equally long, and one decoder step over it.
struct Step {
  std::size_t R, Tx, A, C;
  std::vector<std::size_t> offsets;
  std::vector<std::uint32_t> sentence = support::every_sentence(R);
  Operand annotations{R * Tx, C}, keys{R * Tx, A}, v_a{1, A}, query{R, A}, alpha{R, Tx}, context{R, C};

  Step(std::size_t rows, std::size_t source_words, std::size_t alignment, std::size_t context_width)
      : R(rows), Tx(source_words), A(alignment), C(context_width) {
    for (std::size_t b = 0; b <= R; ++b) offsets.push_back(b * Tx);
  }
  ScoredMemory memory() const { return {find_score("additive"), offsets, annotations.view(), keys.view(), v_a.span()}; }
  support::Work work() const { return {.elements = static_cast<double>(R * Tx * A)}; }
  void forward() const { scored_attention_forward(memory(), sentence, {}, query.view(), alpha.view(), context.view()); }
};

[[maybe_unused]] const bool registered = [] {
  using namespace support;
  for (const ModelSize& size : kSizes) {
    for (const std::size_t Tx : {kSteps, std::size_t{51}}) {
      const std::size_t A = size.alignment, C = 2 * size.state;
      const std::string name = size.name + std::string("/") + shape_text({kSentences, Tx, A});
      add("attention_forward/" + name, [=](benchmark::State& state) {
        const Step step(kSentences, Tx, A, C);
        measure(state, step.work(), [&] { step.forward(); });
      });
      add("attention_backward/" + name, [=](benchmark::State& state) {
        const Step step(kSentences, Tx, A, C);
        step.forward();
        const Operand context_gradient(kSentences, C), query_gradient(kSentences, A), v_a_gradient(kSentences, A);
        const Operand keys_gradient(kSentences * Tx, A);
        const ScoredAttentionBackward backward{step.query.view(),
                                               step.alpha.view(),
                                               context_gradient.view(),
                                               query_gradient.view(),
                                               keys_gradient.view(),
                                               v_a_gradient.view(),
                                               {}};
        measure(state, step.work(), [&] { scored_attention_backward(step.memory(), step.sentence, {}, backward); });
      });
    }
  }
  return true;
}();

}  // namespace
}  // namespace rnnsearch::kernels
