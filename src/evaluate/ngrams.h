// Counts the n-grams that texts share, exactly, without hashes that could collide.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/text/unicode.h"

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

/// The words of texts (0: the hypothesis) as numbers: ids[text][position], equal for equal words.
struct Words {
  std::vector<std::vector<std::uint64_t>> ids;
  std::uint64_t matches = 0;  // as of identify
};
inline Words identify_words(const std::vector<std::string>& lines) {
  Words result{std::vector<std::vector<std::uint64_t>>(lines.size())};
  std::vector<Ngram<std::string_view>> words;
  for (std::uint32_t t = 0; t < lines.size(); ++t) {
    for (const std::string_view word : text::split_views(lines[t])) {
      words.push_back({word, t, result.ids[t].size()});
      result.ids[t].push_back(0);
    }
  }
  result.matches = identify(words, lines.size(), result.ids);
  return result;
}

}  // namespace rnnsearch::evaluate
