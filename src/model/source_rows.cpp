#include "model/source_rows.h"

#include <numeric>

namespace rnnsearch::model {

namespace {

Sentences with_start_symbols(const Sentences& source) {
  Sentences started;
  for (std::size_t b = 0; b < source.size(); ++b) {
    started.words.push_back(kStart);
    started.add(source[b]);
  }
  return started;
}

}  // namespace

void SourceRows::lay_out(const Sentences& source, const ModelOptions& options, std::vector<std::size_t>& offsets) {
  const std::size_t B = source.size();
  const bool with_start = options.source_start;
  std::vector<std::size_t> lengths(B);
  for (std::size_t b = 0; b < B; ++b) lengths[b] = options.source_length(source.length(b));
  offsets.assign(B + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
  if (with_start) {
    for (std::size_t& length : lengths) ++length;
  }
  packing = layers::Packing(lengths);
  const Sentences reversed = options.reverse_source ? with_last_word_first(source) : Sentences();
  const Sentences& read = options.reverse_source ? reversed : source;
  words = layers::pack_words(packing, with_start ? with_start_symbols(read) : read);
  packed_row.resize(with_start ? 0 : packing.words());
  encoded_row.resize(packed_row.size());
  first_word_row.resize(B);
  last_word_row.resize(B);
  for (std::size_t t = 0; t < packing.steps(); ++t) {
    for (std::size_t p = 0; p < packing.active[t]; ++p) {
      const std::uint32_t b = packing.order[p];
      const std::size_t packed = packing.first_row[t] + p;
      if (!with_start) {
        const std::size_t row = offsets[b] + position_of_step(t, source.length(b), options.reverse_source);
        packed_row[row] = static_cast<std::uint32_t>(packed);
        encoded_row[packed] = static_cast<std::uint32_t>(row);
      }
      if (t == 0) first_word_row[b] = static_cast<std::uint32_t>(packed);
      if (t + 1 == lengths[b]) last_word_row[b] = static_cast<std::uint32_t>(packed);
    }
  }
}

}  // namespace rnnsearch::model
