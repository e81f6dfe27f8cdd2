// Words in smaller pieces, and back: SentencePiece (Kudo and Richardson 2018), and the byte pair encoding of
// subword-nmt (Sennrich, Haddow and Birch 2016).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/text/word_list.h"

namespace rnnsearch::text {

/// A model of subwords, or none. Copies share it; it never changes, and any thread may use it. Each thread that splits
/// keeps a table of words that it met: 4 MiB for each of the last four models.
class Subwords {
 public:
  enum class Kind { kSentencePiece, kBytePairCodes };
  class Model;

  Subwords() = default;
  /// bytes: a *.model file of SentencePiece, of any type, with whatever normalisation it says. Throws Error for what is
  /// none, or has a piece that cannot stand in a vocabulary.
  static Subwords sentence_piece(std::string bytes);
  /// bytes: a codes file of subword-nmt: "#version: 0.2" or 0.1 or no such line, then a merge of two symbols on each
  /// line, the first to be made first. Throws Error naming the line that is none.
  static Subwords byte_pair_codes(std::string bytes);
  static Subwords of(Kind kind, std::string bytes);

  explicit operator bool() const { return model_ != nullptr; }
  Kind kind() const;
  const std::string& bytes() const;
  /// "SentencePiece unigram, 8000 pieces", "byte pair codes, 8000 merges"
  std::string description() const;
  /// Of SentencePiece: all that text can become, but what it calls unknown. Without special symbols, in its order.
  std::vector<std::string> pieces() const;

  /// Adds the pieces of `text`: a raw line for SentencePiece, exactly those of the library's Encode (U+2581 stands for
  /// a space); one word without white space for byte pair codes, all pieces but its last marked by "@@" at the end.
  /// Valid UTF-8. Throws Error for a line that the library does not split: SentencePiece's models of whole words or of
  /// characters may refuse one that holds a control symbol.
  void split(std::string_view text, WordList& pieces) const;
  /// The text that the pieces stand for, also those that a model made up: a line of SentencePiece's Decode, where
  /// `unknown` stands for its unknown piece and is a word of its own; of byte pair codes words, separated by spaces.
  std::string join(const std::vector<std::string>& pieces, std::string_view unknown) const;

  /// Of the same kind and bytes.
  friend bool operator==(const Subwords& a, const Subwords& b);

 private:
  explicit Subwords(std::shared_ptr<const Model> model);
  std::shared_ptr<const Model> model_;
};

/// "sentencepiece", "bpe-codes"; throws Error naming them.
Subwords::Kind subword_kind_of(const std::string& name);
std::string name_of(Subwords::Kind kind);

/// How SentencePiece learns a model.
struct SubwordTraining {
  std::string algorithm = "unigram";       // or "bpe"
  std::size_t pieces = 30000;              // special symbols, and the 256 bytes, included
  bool exactly = true;                     // false: fewer where the text has no more
  std::string normalization = "nmt_nfkc";  // SentencePiece's name of a rule, and its default; "identity": none
};
/// Learns a model of `lines`, with byte fallback: what no piece covers becomes bytes ("<0xC3>"), nothing is unknown.
/// The same lines give the same bytes with the same version of the library on the same kind of processor, whatever its
/// number of CPUs: it always has 16 threads. Lines beyond kTrainingLineBytes are left out. Throws Error with the
/// library's reason.
Subwords train_subwords(const std::vector<std::string>& lines, const SubwordTraining& training);
inline constexpr std::size_t kTrainingLineBytes = 4192;  // SentencePiece's max_sentence_length

}  // namespace rnnsearch::text
