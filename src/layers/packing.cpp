#include "rnnsearch/layers/packing.h"

#include <algorithm>
#include <numeric>

namespace rnnsearch::layers {

Packing::Packing(std::span<const std::size_t> lengths) : order(lengths.size()) {
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return lengths[a] > lengths[b]; });
  first_row.push_back(0);
  std::size_t running = lengths.size();
  const std::size_t steps = lengths.empty() ? 0 : lengths[order[0]];
  for (std::size_t t = 0; t < steps; ++t) {
    while (lengths[order[running - 1]] <= t) --running;
    active.push_back(running);
    first_row.push_back(first_row.back() + running);
  }
}

SentenceRows::SentenceRows(const Packing& packing) : offsets(packing.sentences() + 1), rows(packing.words()) {
  packing.for_each_row([&](std::size_t, std::size_t b, std::size_t) { ++offsets[b + 1]; });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  auto next = offsets;
  packing.for_each_row(
      [&](std::size_t row, std::size_t b, std::size_t) { rows[next[b]++] = static_cast<std::uint32_t>(row); });
}

std::vector<std::size_t> lengths_with_end(const Sentences& sentences) {
  std::vector<std::size_t> lengths(sentences.size());
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = sentences.length(i) + 1;
  return lengths;
}

std::vector<WordId> pack_words(const Packing& packing, const Sentences& sentences) {
  std::vector<WordId> words(packing.words());
  packing.for_each_row([&](std::size_t row, std::size_t b, std::size_t t) {
    words[row] = t < sentences.length(b) ? sentences[b][t] : kEnd;
  });
  return words;
}

std::vector<std::uint32_t> one_step_before(const Packing& packing, std::span<const std::uint32_t> numbers,
                                           std::uint32_t none) {
  std::vector<std::uint32_t> before(packing.words(), none);
  for (std::size_t t = 1; t < packing.steps(); ++t) {
    std::copy_n(&numbers[packing.first_row[t - 1]], packing.active[t], &before[packing.first_row[t]]);
  }
  return before;
}

}  // namespace rnnsearch::layers
