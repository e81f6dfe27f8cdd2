// Subword models: SentencePiece (Kudo and Richardson 2018) and the byte pair encoding of subword-nmt (Sennrich, Haddow
// and Birch 2016).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rnnsearch/base/option.h"
#include "rnnsearch/text/word_list.h"

namespace rnnsearch::text {

/// SentencePiece's representation of a space in its pieces.
inline constexpr std::string_view kPieceSpace = "\u2581";

/// A subword model, or none. Copies share the model, which is immutable and thread-safe. Each thread that splits text
/// has a word cache of 4 MiB for each of the last four models, and the threads share the words of a SentencePiece model
/// (64 MiB).
class Subwords {
 public:
  enum class Kind { kSentencePiece, kBytePairCodes };
  /// What the kinds differ in; the members have the contracts of those of Subwords.
  class Model {
   public:
    Model(Kind its_kind, std::string its_bytes) : kind(its_kind), bytes(std::move(its_bytes)) {}
    virtual ~Model() = default;
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    virtual std::string description() const = 0;
    virtual std::vector<std::string> pieces() const { return {}; }
    virtual void split(std::string_view text, WordList& pieces) const = 0;
    virtual std::string join(const std::vector<std::string>& pieces, std::string_view unknown) const = 0;

    const Kind kind;
    const std::string bytes;
  };

  Subwords() = default;
  /// bytes: a *.model file of SentencePiece of any type and with any normalization. Throws Error if it is not a model
  /// or has a piece that cannot be part of a vocabulary.
  static Subwords sentence_piece(std::string bytes);
  /// bytes: a codes file of subword-nmt: optionally the line "#version: 0.2" or "#version: 0.1", then one merge of two
  /// symbols on each line, in order of priority. Throws Error, naming the line, for a line that is not a merge.
  static Subwords byte_pair_codes(std::string bytes);
  static Subwords of(Kind kind, std::string bytes) {
    return kind == Kind::kSentencePiece ? sentence_piece(std::move(bytes)) : byte_pair_codes(std::move(bytes));
  }

  explicit operator bool() const { return model_ != nullptr; }
  Kind kind() const { return model_->kind; }
  const std::string& bytes() const { return model_->bytes; }
  /// A description such as "SentencePiece unigram, 8000 pieces" or "byte pair codes, 8000 merges".
  std::string description() const { return model_->description(); }
  /// For SentencePiece: all pieces that text can yield, without the unknown piece and special symbols, in the order of
  /// the model.
  std::vector<std::string> pieces() const { return model_->pieces(); }

  /// Adds the pieces of `text`. For SentencePiece, `text` is a raw line, and the library's Encode splits it, word by
  /// word unless a piece or normalization rule of the model crosses spaces (U+2581 represents a space). The pieces of a
  /// BPE model are those of the whole line; those of a unigram model differ in about 45 of 100,000 lines, where two
  /// ways to split a word have nearly equal scores. For byte pair codes, `text` is one word without white space, and
  /// all pieces but the last end with "@@". REQUIRES: valid UTF-8. Throws Error for a line that the library cannot
  /// split: SentencePiece models of type word or char may reject a line that holds a control symbol.
  void split(std::string_view text, WordList& pieces) const { model_->split(text, pieces); }
  /// Joins any pieces, also a sequence that a translation model produced, to text. For SentencePiece, the result is a
  /// line as from the library's Decode, with `unknown` as a separate word in place of the unknown piece. For byte pair
  /// codes, it is words separated by spaces.
  std::string join(const std::vector<std::string>& pieces, std::string_view unknown) const {
    return model_->join(pieces, unknown);
  }

  /// Whether both have the same kind and bytes.
  friend bool operator==(const Subwords& a, const Subwords& b) {
    return a.model_ == b.model_ || (a && b && a.kind() == b.kind() && a.bytes() == b.bytes());
  }

 private:
  explicit Subwords(std::shared_ptr<const Model> model) : model_(std::move(model)) {}
  std::shared_ptr<const Model> model_;
};

constexpr auto names_of(Subwords::Kind) { return in_order<Subwords::Kind>({"sentencepiece", "bpe-codes"}); }

/// Options for training a SentencePiece model.
struct SubwordTraining {
  std::string algorithm = "unigram";  // "unigram" or "bpe"
  std::size_t pieces = 30000;         // number of pieces, including special symbols and the 256 bytes
  bool exactly = true;                // false: the model may have fewer pieces if the text does not yield more
  std::string normalization =
      "nmt_nfkc";  // name of a SentencePiece rule; the default is SentencePiece's, "identity" is none
  std::string size_option = "number of pieces";  // what errors call it
  std::vector<std::string> symbols{};            // pieces that are never split and never part of others
};
/// Learns a model from `lines`, with byte fallback: text that no piece covers becomes bytes ("<0xC3>"), so nothing is
/// unknown. With the same version of the library and the same kind of processor, the same lines give the same bytes on
/// any number of CPUs, because it always uses 16 threads. Lines longer than kTrainingLineBytes are ignored. Throws
/// Error with the library's reason.
Subwords train_subwords(const std::vector<std::string>& lines, const SubwordTraining& training);
/// "SentencePiece 0.1.97": the library that this program was built with; the library itself cannot be asked.
std::string sentence_piece_library();
inline constexpr std::size_t kTrainingLineBytes = 4192;  // SentencePiece's max_sentence_length

}  // namespace rnnsearch::text
