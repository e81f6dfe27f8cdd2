// Reads and checks the file of a SentencePiece model, a protocol buffer (sentencepiece_model.proto). Debian does not
// package the generated header, and the library does not check what it loads: a damaged file could lead it out of its
// memory.
#pragma once

#include <string_view>
#include <vector>

#include "rnnsearch/text/subwords.h"

namespace rnnsearch::text {

/// The fields of a model as views into the bytes of the file. Fields that the file does not set have SentencePiece's
/// default values.
struct ModelProto {
  enum class PieceType { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };
  enum class ModelType { kUnigram = 1, kBpe = 2, kWord = 3, kChar = 4 };
  struct Piece {
    std::string_view text;
    PieceType type = PieceType::kNormal;
  };
  std::vector<Piece> pieces;  // indexed by SentencePiece's id
  ModelType type = ModelType::kUnigram;
  std::string_view charsmap;  // precompiled_charsmap
  /// Whether the words of a line, between spaces, can be split one by one: no piece and no normalization rule crosses a
  /// space, and each word begins with the same kPieceSpace.
  bool words_apart = false;

  /// Throws Error if it is not a protocol buffer, or if the normalization rules are damaged. A field of another wire
  /// type, or with an unknown enumeration value, counts as absent, as in the library.
  static ModelProto parse(std::string_view bytes);
};

}  // namespace rnnsearch::text
