// Counts the n-grams that texts share, exactly, without hashes that could collide.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rnnsearch::evaluate {

// An n-gram of one text (0: the hypothesis, k: the k-th reference).
template <class Key>
struct Ngram {
  Key key;
  std::uint32_t text;
  std::size_t position;
};

/// Assigns equal ids to equal n-grams (ids[text][position], less than the number of n-grams). Returns how many n-grams
/// of text 0 match other texts, where each n-gram counts at most as often as in the other text that has it most often.
/// Sorts `ngrams`.
template <class Key>
std::uint64_t identify(std::vector<Ngram<Key>>& ngrams, std::size_t texts,
                       std::vector<std::vector<std::uint64_t>>& ids) {
  std::sort(ngrams.begin(), ngrams.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  std::vector<std::uint64_t> counts(texts);
  std::uint64_t matches = 0, id = 0;
  for (std::size_t i = 0; i < ngrams.size(); ++id) {
    std::fill(counts.begin(), counts.end(), 0);
    const Key key = ngrams[i].key;
    for (; i < ngrams.size() && ngrams[i].key == key; ++i) {
      ++counts[ngrams[i].text];
      ids[ngrams[i].text][ngrams[i].position] = id;
    }
    matches += std::min(counts[0], *std::max_element(counts.begin() + 1, counts.end()));
  }
  return matches;
}

}  // namespace rnnsearch::evaluate
