// What the pieces of a target vocabulary spell: where the words of a text begin and end in a sequence of pieces,
// however the words were split.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/corpus/vocabulary.h"

namespace rnnsearch::corpus {

/// Words are those of the pipeline's tokenizer without their joiner marks; where SentencePiece splits raw lines, they
/// are those of the tokenizer `words`, so that punctuation is no part of a word. Thread-safe when const.
class Spelling {
 public:
  /// Copies what it needs.
  Spelling(const Vocabulary& vocabulary, const TextPipeline& pipeline);

  /// kWords: each piece is a word. kCodes: a piece that ends with "@@" continues in the next one. kLine: pieces of
  /// SentencePiece, which spell a raw line.
  enum class Form { kWords, kCodes, kLine };
  /// kLine: kLetters goes on with the word before it, and a word may go on behind it; kWord begins with a space and
  /// has such letters behind it; kOther is anything else, such as punctuation. Of other forms all are kOther.
  enum class Shape : std::uint8_t { kLetters, kWord, kOther };

  Form form() const { return form_; }
  std::size_t size() const { return texts_.size(); }
  /// What the piece adds to a text, without "@@"; of kLine with a space for each U+2581, and bytes for byte pieces.
  const std::string& text(WordId id) const { return texts_[id]; }
  /// Computed by each call, not stored.
  Shape shape(WordId id) const;
  /// For kWords and kCodes: whether a word ends with this piece.
  bool ends_word(WordId id) const { return !continues_[id]; }
  /// Whether `after` continues the word of the piece `before`.
  bool joins(WordId before, WordId after) const;

  /// The words of a piece of a raw line (kLine).
  static std::vector<std::string> split_words(std::string_view text);
  /// A word of the tokenizer without the joiner marks at its ends.
  static std::string_view without_marks(std::string_view word);
  /// The words of pieces into which the pipeline split a text of this side.
  static std::vector<std::string> words_of_pieces(const std::vector<std::string>& pieces, const TextPipeline& pipeline,
                                                  Side side);
  /// The words of a text as this pipeline reads the target side. REQUIRES: valid UTF-8.
  std::vector<std::string> words_of_text(std::string_view text) const {
    return words_of_pieces(pipeline_.to_words(text, Side::kTarget), pipeline_, Side::kTarget);
  }

 private:
  TextPipeline pipeline_;
  Form form_;
  std::vector<std::string> texts_;  // by id
  std::vector<bool> continues_;
};

}  // namespace rnnsearch::corpus
