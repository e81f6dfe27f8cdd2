#include "model/source_rows.h"

#include <numeric>

namespace rnnsearch::model {

void SourceRows::lay_out(const Sentences& source, std::vector<std::size_t>& offsets) {
  const std::size_t B = source.size();
  const auto lengths = layers::lengths_with_end(source);
  offsets.assign(B + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
  packing = layers::Packing(lengths);
  words = layers::pack_words(packing, source);
  packed_row.resize(packing.words());
  encoded_row.resize(packing.words());
  first_word_row.resize(B);
  last_word_row.resize(B);
  for (std::size_t t = 0; t < packing.steps(); ++t) {
    for (std::size_t p = 0; p < packing.active[t]; ++p) {
      const std::uint32_t b = packing.order[p];
      const std::size_t packed = packing.first_row[t] + p, row = offsets[b] + t;
      packed_row[row] = static_cast<std::uint32_t>(packed);
      encoded_row[packed] = static_cast<std::uint32_t>(row);
      if (t == 0) first_word_row[b] = static_cast<std::uint32_t>(packed);
      if (t + 1 == lengths[b]) last_word_row[b] = static_cast<std::uint32_t>(packed);
    }
  }
}

}  // namespace rnnsearch::model
