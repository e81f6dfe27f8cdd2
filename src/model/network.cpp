#include "model/network.h"

#include <utility>

#include "rnnsearch/base/error.h"

namespace rnnsearch::model {

template <class Real>
Network<Real>::Network(const ModelOptions& chosen, ParameterLayout its_layout)
    : options(chosen), layout(std::move(its_layout)) {
  parameter_block.zeros(1, layout.size);
  gradient_block.zeros(1, layout.dense);
  const auto add = [&](const char* name, bool source, bool target) {
    const Parameter& E = layout.find(name);
    if (E.offset >= layout.dense) tables.push_back({E.offset, source, target, {E.rows(), E.cols()}});
  };
  if (options.ties_sides()) {
    add("embedding", true, true);
  } else {
    add("encoder/embedding", true, false);
    add("decoder/embedding", false, true);
  }
}

template <class Real>
void Network<Real>::finish(const Finished& finished, std::size_t count) {
  for (; count > 0; --count, ++parts_finished) {
    if (finished) finished(parts_finished);
  }
}

void check_words(const Sentences& sentences, std::size_t vocabulary, const char* side) {
  for (const WordId word : sentences.words) {
    if (word >= vocabulary) {
      throw Error(text_of("model: a ", side, " sentence holds word id ", word, ", but the vocabulary has only ",
                          vocabulary, " words"));
    }
  }
}

template class Network<float>;
template class Network<double>;

}  // namespace rnnsearch::model
