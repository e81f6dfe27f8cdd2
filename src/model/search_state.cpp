#include "rnnsearch/model/search_state.h"

#include <cassert>
#include <utility>

#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::model {

void SearchState::select(std::span<const std::uint32_t> parent, std::span<const WordId> chosen) {
  assert(parent.size() == chosen.size());
  const auto gather = [&](auto values) {
    decltype(values) gathered;
    for (const std::uint32_t row : parent) gathered.push_back(values[row]);
    return gathered;
  };
  sentence = gather(std::move(sentence));
  previous = gather(std::move(previous));
  written = gather(std::move(written));
  word.assign(chosen.begin(), chosen.end());
  for (kernels::Buffer<Real>* const buffer : {&states, &fed, &context}) {
    const auto rows = buffer->view();
    if (rows.cols == 0) continue;
    kernels::gather_rows(rows, parent, spare.shape(parent.size(), rows.cols));
    std::swap(*buffer, spare);
  }
}

void SearchState::append(const SearchState& other, std::size_t first, std::size_t count, std::uint32_t shift) {
  const std::size_t before = rows();
  for (std::size_t k = first; k < first + count; ++k) {
    sentence.push_back(other.sentence[k] + shift);
    previous.push_back(other.previous[k]);
    written.push_back(other.written[k]);
  }
  // The context is that of a step, and is computed anew.
  for (const auto& [own, more] : {std::pair{&states, &other.states}, std::pair{&fed, &other.fed}}) {
    const std::size_t width = more->view().cols;
    if (width == 0) continue;
    const auto joined = spare.shape(before + count, width);
    if (before > 0) kernels::copy_rows(own->view(), joined.row_range(0, before));
    kernels::copy_rows(more->view().row_range(first, count), joined.row_range(before, count));
    std::swap(*own, spare);
  }
}

}  // namespace rnnsearch::model
