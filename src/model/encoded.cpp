#include "rnnsearch/model/encoded.h"

#include <algorithm>
#include <cassert>
#include <type_traits>
#include <utility>

namespace rnnsearch::model {

void Encoded::replace(std::span<const std::uint32_t> kept, Encoded more) {
  assert(std::is_sorted(kept.begin(), kept.end()));
  const std::vector<std::size_t> before = std::exchange(offsets, {0});
  const auto add_lengths = [&](const std::vector<std::size_t>& from, std::size_t b) {
    offsets.push_back(offsets.back() + from[b + 1] - from[b]);
  };
  for (const std::uint32_t b : kept) add_lengths(before, b);
  for (std::size_t b = 0; b < more.sentences(); ++b) add_lengths(more.offsets, b);

  // One array after the other, so that only one is there twice. Each has a row for each word, or for each sentence.
  const auto join = [&](auto& own, auto& other, bool row_for_each_word) {
    const auto rows_of = [&](const std::vector<std::size_t>& offsets_of_sentences) {
      return offsets_of_sentences.empty() ? 0
             : row_for_each_word          ? offsets_of_sentences.back()
                                          : offsets_of_sentences.size() - 1;
    };
    const std::size_t own_rows = rows_of(before), other_rows = rows_of(more.offsets);
    const std::size_t width = other_rows > 0 ? other.size() / other_rows : own_rows > 0 ? own.size() / own_rows : 0;
    std::remove_reference_t<decltype(own)> joined;
    joined.reserve(rows_of(offsets) * width);
    for (const std::uint32_t b : kept) {
      const std::size_t begin = row_for_each_word ? before[b] : b, end = row_for_each_word ? before[b + 1] : b + 1;
      joined.insert(joined.end(), own.begin() + static_cast<std::ptrdiff_t>(begin * width),
                    own.begin() + static_cast<std::ptrdiff_t>(end * width));
    }
    joined.insert(joined.end(), other.begin(), other.end());
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

}  // namespace rnnsearch::model
