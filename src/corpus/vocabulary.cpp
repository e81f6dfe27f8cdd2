#include "rnnsearch/corpus/vocabulary.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/text/word_list.h"

namespace rnnsearch::corpus {

Vocabulary::Vocabulary(std::vector<std::string> words, std::vector<std::uint64_t> counts)
    : words_(std::move(words)), counts_(std::move(counts)) {
  if (counts_.empty()) counts_.assign(words_.size(), 0);
  if (counts_.size() != words_.size())
    throw Error("the vocabulary has {} words but {} counts", words_.size(), counts_.size());
  for (std::size_t i = 0; i < kSpecialSymbols.size(); ++i) {
    if (i >= words_.size() || words_[i] != kSpecialSymbols[i])
      throw Error("the vocabulary has '{}' as word {} where {} was expected", i < words_.size() ? words_[i] : "", i,
                  kSpecialSymbols[i]);
  }
  slots_.assign(std::bit_ceil(2 * words_.size()), kUnknown);
  for (std::size_t i = kSpecialSymbols.size(); i < words_.size(); ++i) {
    if (words_[i].empty() || words_[i].find_first_of(std::string_view("\n\0", 2)) != std::string::npos ||
        text::first_invalid_utf8(words_[i]))
      throw Error("word {} of the vocabulary is {}", i, words_[i].empty() ? "empty" : "not a line of valid UTF-8");
    const auto special = std::find(kSpecialSymbols.begin(), kSpecialSymbols.end(), words_[i]);
    if (special != kSpecialSymbols.end())
      throw Error("the vocabulary has '{}' twice, as words {} and {}", words_[i], special - kSpecialSymbols.begin(), i);
    WordId& slot = slots_[slot_of(words_[i])];
    if (slot != kUnknown) throw Error("the vocabulary has '{}' twice, as words {} and {}", words_[i], slot, i);
    slot = static_cast<WordId>(i);
  }
}

std::size_t Vocabulary::slot_of(std::string_view word) const {
  const std::size_t last = slots_.size() - 1;
  std::size_t slot = text::hash_of(word) & last;
  while (slots_[slot] != kUnknown && words_[slots_[slot]] != word) slot = (slot + 1) & last;
  return slot;
}

WordId Vocabulary::id(std::string_view word) const { return slots_.empty() ? kUnknown : slots_[slot_of(word)]; }

}  // namespace rnnsearch::corpus
