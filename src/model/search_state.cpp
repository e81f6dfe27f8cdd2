#include "rnnsearch/model/search_state.h"

#include <cassert>
#include <utility>

#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::model {

template <class Real>
void SearchState<Real>::select(std::span<const std::uint32_t> parent, std::span<const WordId> chosen) {
  assert(parent.size() == chosen.size());
  const auto gather = [&](auto values) {
    decltype(values) gathered;
    for (const std::uint32_t row : parent) gathered.push_back(values[row]);
    return gathered;
  };
  sentence = gather(std::move(sentence));
  previous = gather(std::move(previous));
  word.assign(chosen.begin(), chosen.end());
  for (kernels::Buffer<Real>* const buffer : {&states, &fed, &context}) {
    const auto rows = buffer->view();
    if (rows.cols == 0) continue;
    kernels::gather_rows<Real>(rows, parent, spare.shape(parent.size(), rows.cols));
    std::swap(*buffer, spare);
  }
}

template struct SearchState<float>;
template struct SearchState<double>;

}  // namespace rnnsearch::model
