// Parses the file of a SentencePiece model, a protocol buffer (sentencepiece_model.proto). Debian does not package the
// generated header.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace rnnsearch::text {

/// The fields of a model as views into the bytes of the file. Fields that the file does not set have SentencePiece's
/// default values.
struct ModelProto {
  enum class PieceType { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };
  enum class ModelType { kUnigram = 1, kBpe = 2, kWord = 3, kChar = 4 };
  struct Piece {
    std::string_view text;
    float score = 0;
    PieceType type = PieceType::kNormal;
  };
  std::vector<Piece> pieces;  // indexed by SentencePiece's id
  ModelType type = ModelType::kUnigram;
  bool byte_fallback = false;
  bool space_as_suffix = false;       // treat_whitespace_as_suffix
  std::string_view charsmap;          // precompiled_charsmap
  std::string_view joining_charsmap;  // precompiled_charsmap of the denormalizer
  bool adds_dummy_prefix = true;      // adds a space before each line (add_dummy_prefix)
  bool removes_extra_spaces = true;   // remove_extra_whitespaces
  bool escapes_spaces = true;         // escape_whitespaces

  /// Throws Error if it is not a protocol buffer. A field of another wire type, or with an unknown enumeration value,
  /// counts as absent, as in the library.
  static ModelProto parse(std::string_view bytes);
};

}  // namespace rnnsearch::text
