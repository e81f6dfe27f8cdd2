// The text pipeline: how raw text is split into words or subwords, and how these are joined to text again. `prepare`
// stores it in the corpus, and every checkpoint holds a copy, so that `translate` treats new text exactly like the
// training text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/text/subwords.h"
#include "rnnsearch/text/unicode.h"
#include "rnnsearch/text/word_list.h"

namespace rnnsearch::corpus {

enum class Side { kSource, kTarget };

struct TextPipeline {
  std::string source_language = "src";
  std::string target_language = "tgt";
  /// words: reversible word tokens (text/tokenizer.h), where each Chinese character is a word. icu-words: the same, but
  /// Chinese and Japanese are split by ICU's dictionary; the words agree with those of the training text only for the
  /// same version of ICU. moses: Moses tokens (text/moses_tokenizer.h) for the languages en, fr and de. none: split at
  /// white space.
  std::string tokenizer = "words";
  std::string normalization = "none";  // Unicode normalization before all other steps: none, nfc or nfkc
  bool lowercase = false;
  /// Either both sides have subwords, of the same kind, or none has. SentencePiece splits raw lines into pieces, and
  /// the tokenizer must be none; byte pair codes split the words of the tokenizer. Elsewhere in this program such a
  /// piece is called a word.
  text::Subwords source_subwords, target_subwords;

  /// The line after normalization and lowercasing, as the tokenizer gets it. Refers to `line`, or to `buffer` if the
  /// line changed.
  std::string_view normalized_line(std::string_view line, std::string& buffer) const;

  /// Splits a line into words. White space alone yields no words. REQUIRES: `line` is valid UTF-8.
  std::vector<std::string> to_words(std::string_view line, Side side) const;
  /// The same, but appends to `words`.
  void to_words(std::string_view line, Side side, text::WordList& words) const;
  /// The inverse of to_words, except for white space, the case of lowercased text, normalized characters, and what
  /// Moses cannot undo. The result is one line: line ends and NULs from byte pieces become spaces. kUnknownInText among
  /// the words is kept as a word.
  std::string to_text(const std::vector<std::string>& words, Side side = Side::kTarget) const;

  friend bool operator==(const TextPipeline&, const TextPipeline&) = default;
};

/// "none", "sentencepiece", "bpe-codes"
std::string subwords_of(const TextPipeline& pipeline);

/// Throws Error for an unknown tokenizer or normalization, naming the choices, and for subwords that do not fit the
/// tokenizer or each other.
void check(const TextPipeline& pipeline);

}  // namespace rnnsearch::corpus
