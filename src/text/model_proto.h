// What the file of a SentencePiece model says, a protocol buffer (sentencepiece_model.proto), whose own header Debian
// does not have.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace rnnsearch::text {

/// Views into the file's bytes; each field has the value that the file gives, or SentencePiece's default.
struct ModelProto {
  enum class PieceType { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };
  enum class ModelType { kUnigram = 1, kBpe = 2, kWord = 3, kChar = 4 };
  struct Piece {
    std::string_view text;
    float score = 0;
    PieceType type = PieceType::kNormal;
  };
  std::vector<Piece> pieces;  // by SentencePiece's id
  ModelType type = ModelType::kUnigram;
  bool byte_fallback = false;
  bool space_as_suffix = false;       // treat_whitespace_as_suffix
  std::string_view charsmap;          // precompiled_charsmap
  std::string_view joining_charsmap;  // the denormalizer's
  bool adds_dummy_prefix = true;      // a space before each line
  bool removes_extra_spaces = true;   // remove_extra_whitespaces
  bool escapes_spaces = true;         // escape_whitespaces

  /// Throws Error for what is no protocol buffer. A field of another wire type, or with a number that no enumeration
  /// has, counts as absent, as it does for the library.
  static ModelProto parse(std::string_view bytes);
};

}  // namespace rnnsearch::text
