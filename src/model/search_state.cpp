#include "rnnsearch/model/search_state.h"

#include <algorithm>
#include <cassert>
#include <type_traits>
#include <utility>

#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::model {

void Encoded::replace(std::span<const std::uint32_t> kept, Encoded more) {
  assert(std::is_sorted(kept.begin(), kept.end()));
  const std::vector<std::size_t> before = std::exchange(offsets, {0});
  const auto add_lengths = [&](const std::vector<std::size_t>& from, std::size_t b) {
    offsets.push_back(offsets.back() + from[b + 1] - from[b]);
  };
  for (const std::uint32_t b : kept) add_lengths(before, b);
  for (std::size_t b = 0; b < more.sentences(); ++b) add_lengths(more.offsets, b);

  // One matrix after the other, so that only one is there twice. Each has a row for each word, or for each sentence.
  const auto join = [&](auto& own, auto& other, bool row_for_each_word) {
    const auto from = own.view(), added = other.view();
    std::remove_reference_t<decltype(own)> joined;
    const std::size_t rows = row_for_each_word ? offsets.back() : sentences();
    const auto to = joined.shape(from.rows + added.rows > 0 ? rows : 0, std::max(from.cols, added.cols));
    std::size_t row = 0;
    const auto copy = [&](const auto& some) {
      for (std::size_t i = 0; i < some.rows; ++i) std::copy_n(some.row(i), some.cols, to.row(row++));
    };
    for (std::size_t k = 0; k < kept.size() && from.rows > 0; ++k) {
      const std::size_t b = kept[k];
      copy(row_for_each_word ? from.row_range(before[b], before[b + 1] - before[b]) : from.row_range(b, 1));
    }
    copy(added);
    own = std::move(joined);
    other = {};
  };
  join(annotations, more.annotations, true);
  join(keys, more.keys, true);
  join(rounded_annotations, more.rounded_annotations, true);
  join(rounded_keys, more.rounded_keys, true);
  join(contexts, more.contexts, false);
  join(initial_states, more.initial_states, false);
}

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
