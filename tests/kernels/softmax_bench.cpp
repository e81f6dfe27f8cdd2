// The output layer's elementwise parts, on a block of rows. Shapes are rows x columns, items their product.
#include "rnnsearch/kernels/softmax.h"

#include <string>
#include <vector>

#include "tests/support/bench.h"

namespace rnnsearch::kernels {
namespace {

using support::Operand;

[[maybe_unused]] const bool registered = [] {
  using namespace support;
  for (const ModelSize& size : kSizes) {
    const std::size_t R = kReadoutRows, K = size.words;
    const std::string name = size.name + std::string("/") + shape_text({R, K});
    const Work work{.elements = static_cast<double>(R * K)};
    // Turns after the first find their own results: what they do is the same for any logits.
    add("log_softmax/" + name, [=](benchmark::State& state) {
      const Operand logits(R, K);
      const std::vector<float> bias(K);
      measure(state, work, [&] { log_softmax(bias, logits.view()); });
    });
    const auto add_loss = [=](const std::string& function, bool gradient) {
      add(function + "/" + name, [=](benchmark::State& state) {
        const Operand logits(R, K);
        const std::vector<float> bias(K);
        const std::vector<std::uint32_t> target = every_sentence(R);  // any words
        std::vector<double> loss(R);
        measure(state, work, [&] {
          gradient ? softmax_cross_entropy(bias, logits.view(), target, loss)
                   : softmax_loss(bias, logits.view(), target, loss);
        });
      });
    };
    add_loss("softmax_cross_entropy", true);
    add_loss("softmax_loss", false);

    const std::size_t l = size.maxout;
    const std::string maxout_name = size.name + std::string("/") + shape_text({kWords, 2 * l});
    const Work maxout_work{.elements = static_cast<double>(kWords * 2 * l)};
    add("maxout_forward/" + maxout_name, [=](benchmark::State& state) {
      const Operand x(kWords, 2 * l), t(kWords, l);
      measure(state, maxout_work, [&] { maxout_forward(x.view(), t.view()); });
    });
    add("maxout_backward/" + maxout_name, [=](benchmark::State& state) {
      const Operand x(kWords, 2 * l), t_gradient(kWords, l), x_gradient(kWords, 2 * l);
      measure(state, maxout_work, [&] { maxout_backward(x.view(), t_gradient.view(), x_gradient.view()); });
    });
  }
  return true;
}();

}  // namespace
}  // namespace rnnsearch::kernels
