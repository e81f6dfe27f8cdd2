// How raw text becomes words, or subwords, and these become text again: written by `prepare`, copied into every
// checkpoint, so that `translate` treats new text exactly as the training text was treated.
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
  /// words: reversible word tokens (text/tokenizer.h), each Chinese character a word; icu-words: the same, but Chinese
  /// and Japanese in the words of ICU's dictionary, which are exactly those of the training text only with the same
  /// version of ICU; moses: the words of Moses (text/moses_tokenizer.h), by the languages en, fr and de; none: split at
  /// white space.
  std::string tokenizer = "words";
  std::string normalization = "none";  // of characters, before all else, also inside words: none, nfc, nfkc
  bool lowercase = false;
  /// Of both sides or none, of one kind. With SentencePiece raw lines become pieces, and the tokenizer is none; with
  /// byte pair codes each word that the tokenizer gives becomes some. What is called a word elsewhere is then such a
  /// piece.
  text::Subwords source_subwords, target_subwords;

  /// The line as the tokenizer gets it: in the normal form and case. `line` itself, or what is put into `buffer`.
  std::string_view spelled(std::string_view line, std::string& buffer) const;
  /// White space alone gives no words. Valid UTF-8.
  std::vector<std::string> to_words(std::string_view line, Side side) const;
  /// The same, added to `words`.
  void to_words(std::string_view line, Side side, text::WordList& words) const;
  /// The inverse, on the target side if not said otherwise, in one line: line ends and NULs that pieces of bytes make
  /// are spaces. Up to white space (case, when it was lowered, what a normalisation changes, and
  /// what Moses cannot undo). kUnknownInText among the words is a word of the text.
  std::string to_text(const std::vector<std::string>& words, Side side = Side::kTarget) const;

  friend bool operator==(const TextPipeline&, const TextPipeline&) = default;
};

/// "none", "sentencepiece", "bpe-codes"
std::string subwords_of(const TextPipeline& pipeline);

/// Throws Error naming the choices for a tokenizer that there is not, and for subwords that do not fit it or each
/// other.
void check(const TextPipeline& pipeline);

}  // namespace rnnsearch::corpus
