#include "rnnsearch/model/encoded.h"

#include <cassert>

namespace rnnsearch::model {

template <class Real>
void Encoded<Real>::replace(std::span<const std::uint32_t> kept, const Encoded& more) {
  const Encoded before = std::move(*this);
  *this = {};
  offsets.push_back(0);
  const auto add_lengths = [&](const Encoded& from, auto sentence) {
    offsets.push_back(offsets.back() + from.source_length(sentence));
  };
  for (const std::uint32_t b : kept) add_lengths(before, b);
  for (std::size_t b = 0; b < more.sentences(); ++b) add_lengths(more, b);

  // Of an array with a row for each word or each sentence: rows `begin` to `end` of `from`, which has `rows`.
  const auto add = [&](auto& to, const auto& from, std::size_t begin, std::size_t end, std::size_t rows) {
    if (rows == 0) return;
    const auto width = static_cast<std::ptrdiff_t>(from.size() / rows);
    to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(begin) * width,
              from.begin() + static_cast<std::ptrdiff_t>(end) * width);
  };
  const auto add_sentences = [&](const Encoded& from, std::size_t first, std::size_t last) {
    const std::size_t begin = from.offsets[first], end = from.offsets[last], words = from.offsets.back();
    add(annotations, from.annotations, begin, end, words);
    add(keys, from.keys, begin, end, words);
    add(rounded_annotations, from.rounded_annotations, begin, end, words);
    add(rounded_keys, from.rounded_keys, begin, end, words);
    add(contexts, from.contexts, first, last, from.sentences());
    add(initial_states, from.initial_states, first, last, from.sentences());
  };
  const auto reserve = [](auto& to, const auto& a, const auto& b) { to.reserve(a.size() + b.size()); };
  reserve(annotations, before.annotations, more.annotations);
  reserve(keys, before.keys, more.keys);
  reserve(rounded_annotations, before.rounded_annotations, more.rounded_annotations);
  reserve(rounded_keys, before.rounded_keys, more.rounded_keys);
  for (const std::uint32_t b : kept) add_sentences(before, b, b + 1);
  if (more.sentences() > 0) add_sentences(more, 0, more.sentences());
}

template struct Encoded<float>;
template struct Encoded<double>;

}  // namespace rnnsearch::model
