// Vocabularies: they map words to ids and back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::corpus {

/// The special symbols, indexed by their ids kUnknown, kStart and kEnd.
inline constexpr std::array<std::string_view, 3> kSpecialSymbols{"<unk>", "<s>", "</s>"};

/// The symbol for an unknown word in translated text, U+2047. Every BLEU tokenizer takes it for one word, like the
/// paper's UNK. They would split "<unk>" into three, and short sentences would score several points too low.
using text::kUnknownInText;

/// Words by id: 0 <unk>, 1 <s>, 2 </s>, then by falling frequency (ties: sorted bytewise). Thread-safe when const.
class Vocabulary {
 public:
  Vocabulary() = default;
  /// `counts` may be empty, which means 0 for every word. Throws Error if the special symbols are not in their places,
  /// or if a word is repeated, empty, or not a line of valid UTF-8.
  explicit Vocabulary(std::vector<std::string> words, std::vector<std::uint64_t> counts = {});

  std::size_t size() const { return words_.size(); }
  const std::string& word(WordId id) const { return words_[id]; }
  /// The word as it appears in text: kUnknownInText for kUnknown, otherwise word(id).
  std::string word_in_text(WordId id) const { return id == kUnknown ? std::string(kUnknownInText) : words_[id]; }
  /// The id of a word; kUnknown for words that are not in the vocabulary and for words spelled like special symbols, so
  /// that text never yields <s> or </s>.
  WordId id(std::string_view word) const;
  const std::vector<std::string>& words() const { return words_; }
  const std::vector<std::uint64_t>& counts() const { return counts_; }

 private:
  std::size_t slot_of(std::string_view word) const;  // the slot that holds the word, or the free one that would

  std::vector<std::string> words_;
  std::vector<std::uint64_t> counts_;
  std::vector<WordId> slots_;  // hash table with open addressing; kUnknown: the slot is free
};

}  // namespace rnnsearch::corpus
