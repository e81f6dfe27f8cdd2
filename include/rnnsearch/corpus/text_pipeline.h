// The text pipeline: how raw text is split into words or subwords, and how these are joined to text again. `prepare`
// stores it in the corpus, and every checkpoint holds a copy, so that `translate` treats new text exactly like the
// training text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/text/placeholders.h"
#include "rnnsearch/text/subwords.h"
#include "rnnsearch/text/unicode.h"
#include "rnnsearch/text/word_list.h"

namespace rnnsearch::corpus {

enum class Side { kSource, kTarget };

/// The libraries that split the text of a corpus, such as "ICU 72.1". Empty: those of this program. Not compared:
/// pipelines that differ in nothing else are equal.
struct LibraryNote {
  std::string text;
  friend bool operator==(const LibraryNote&, const LibraryNote&) { return true; }
};

/// The subwords of a word: [first, end) of the words of its line.
struct WordPieces {
  std::size_t first, end;
};

struct TextPipeline {
  std::string source_language = "src";
  std::string target_language = "tgt";
  /// words: reversible word tokens (text/tokenizer.h), where each Chinese character is a word. icu-words: the same, but
  /// Chinese and Japanese are split by ICU's dictionary; the words agree with those of the training text only for the
  /// same version of ICU. moses: Moses tokens (text/tokenizer.h) for the languages en, fr and de. none: split at
  /// white space.
  std::string tokenizer = "words";
  std::string normalization = "none";  // Unicode normalization before all other steps: none, nfc or nfkc
  bool lowercase = false;
  /// Either both sides have subwords, of the same kind, or none has. SentencePiece splits raw lines into pieces, and
  /// the tokenizer must be none; byte pair codes split the words of the tokenizer. Elsewhere in this program such a
  /// piece is called a word.
  text::Subwords source_subwords, target_subwords;
  /// What is copied: placeholders stand for it in the lines that to_words splits, which keeps them whole.
  text::CopyPatterns copies;
  LibraryNote libraries;

  /// The line after normalization and lowercasing, as the tokenizer gets it. Refers to `line`, or to `buffer` if the
  /// line changed.
  std::string_view normalized_line(std::string_view line, std::string& buffer) const;

  /// Splits a line into words. White space alone yields no words. REQUIRES: `line` is valid UTF-8.
  std::vector<std::string> to_words(std::string_view line, Side side) const;
  /// The same, but appends to `words`.
  void to_words(std::string_view line, Side side, text::WordList& words) const;
  /// The pieces of each word into which the tokenizer splits the line, where `pieces` are what to_words splits it into.
  /// A piece that crosses words belongs to each of them, and a word that normalization removes has none. REQUIRES:
  /// there are subwords, and no copies.
  std::vector<WordPieces> pieces_of_words(std::string_view line, Side side, const text::WordList& pieces) const;
  /// The inverse of to_words, except for white space, the case of lowercased text, normalized characters, and what
  /// Moses cannot undo. The result is one line: line ends and NULs from byte pieces become spaces. kUnknownInText among
  /// the words is kept as a word.
  std::string to_text(const std::vector<std::string>& words, Side side = Side::kTarget) const;

  /// The line of a source with placeholders in place of its first `most` matches of `copies`, which `spans` gets, and
  /// the line of a target with placeholders in place of these spans. Both are the line itself without patterns.
  std::string source_line(std::string_view line, std::size_t most, std::vector<std::string>& spans) const;
  std::string target_line(std::string_view line, const std::vector<std::string>& spans) const;
  /// A training pair: what occurs on both sides is replaced (text/placeholders.h: replace_pair).
  void replace_copies(std::string& source, std::string& target) const;

  friend bool operator==(const TextPipeline&, const TextPipeline&) = default;
};

/// "none", "sentencepiece", "bpe-codes"
std::string subwords_of(const TextPipeline& pipeline);

/// "'[0-9]+', 'https?://[^ ]+'", or "none"
std::string copy_patterns_of(const TextPipeline& pipeline);

/// The libraries that the pipelines of this program use: "ICU 72.1, SentencePiece 0.1.97".
std::string libraries();
/// The libraries of this program whose version may decide how this pipeline splits text: ICU for icu-words and
/// normalization, SentencePiece for its models; empty for others. (ICU also knows letters and case for the other
/// tokenizers, but there its versions differ in characters that Unicode has added since.)
std::string libraries_of(const TextPipeline& pipeline);
/// Says how these libraries differ from those that split the text of the corpus; empty if they do not, or if the corpus
/// is too old to tell.
std::string changed_libraries(const TextPipeline& pipeline);

/// A placeholder word, which a model knows on both sides.
struct PlaceholderWord {
  WordId source, target;
};
/// The placeholders that a model with these vocabularies has learned, in order: those that occur in the training text
/// of both sides. None without patterns.
std::vector<PlaceholderWord> known_placeholders(const TextPipeline& pipeline, const Vocabulary& source,
                                                const Vocabulary& target);

/// Throws Error for an unknown tokenizer or normalization, naming the choices, and for subwords that do not fit the
/// tokenizer or each other.
void check(const TextPipeline& pipeline);

}  // namespace rnnsearch::corpus
