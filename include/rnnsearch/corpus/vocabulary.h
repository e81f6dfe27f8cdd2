// Words and their ids.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rnnsearch/base/sentences.h"

namespace rnnsearch::corpus {

/// By id: kUnknown, kStart, kEnd.
inline constexpr std::array<std::string_view, 3> kSpecialSymbols{"<unk>", "<s>", "</s>"};

/// What stands for an unknown word in text, U+2047: one word to every tokeniser of BLEU, as the paper's UNK was. They
/// take "<unk>" apart into three, and short sentences then score several points less than they should.
inline constexpr std::string_view kUnknownInText = "\u2047";

/// index = id; 0 <unk>, 1 <s>, 2 </s>, then by falling frequency (ties: by the bytes of the word).
class Vocabulary {
 public:
  Vocabulary() = default;
  /// `counts` may be empty (then all 0). Throws Error when the special symbols are not in their places, or a word
  /// repeats, is empty, or is no line of UTF-8.
  explicit Vocabulary(std::vector<std::string> words, std::vector<std::uint64_t> counts = {});

  std::size_t size() const { return words_.size(); }
  const std::string& word(WordId id) const { return words_[id]; }
  /// word(id), or kUnknownInText.
  std::string word_in_text(WordId id) const { return id == kUnknown ? std::string(kUnknownInText) : words_[id]; }
  /// kUnknown for a word that is not in it, and for one spelled like a special symbol: text never becomes <s> or </s>.
  WordId id(std::string_view word) const;
  const std::vector<std::string>& words() const { return words_; }
  const std::vector<std::uint64_t>& counts() const { return counts_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::vector<std::string> words_;
  std::vector<std::uint64_t> counts_;
  std::unordered_map<std::string, WordId, Hash, std::equal_to<>> ids_;
};

}  // namespace rnnsearch::corpus
