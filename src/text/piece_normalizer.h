// The normalization of a SentencePiece model: at each position, the longest prefix that has a rule is replaced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rnnsearch::text {

/// SentencePiece's representation of a space.
inline constexpr std::string_view kPieceSpace = "\u2581";

/// Immutable and thread-safe.
class PieceNormalizer {
 public:
  PieceNormalizer() = default;  // no rules
  /// charsmap: the `precompiled_charsmap` of a model: the number of bytes of a double array (Darts-clone) as uint32,
  /// the array, whose keys are the texts to replace, and the replacements, each terminated by a NUL. Empty: no rules.
  /// The data comes from a file and is not trusted: throws Error for damaged data, also in parts that only the library
  /// reads.
  explicit PieceNormalizer(std::string_view charsmap);

  /// Whether the stretches between the spaces of a text can be normalized independently, and the result never has two
  /// spaces in a row.
  bool separates_at_spaces() const { return separates_at_spaces_; }

  /// Normalizes `stretch`, which follows a space or starts a line, and appends the resulting words, each preceded by
  /// kPieceSpace. REQUIRES: separates_at_spaces(), and `stretch` is valid UTF-8 without spaces, NUL and kPieceSpace.
  void append(std::string_view stretch, std::string& text) const;

 private:
  struct Prefix {
    std::string_view replacement;
    std::size_t size;
  };
  Prefix prefix_of(std::string_view text) const;
  void check_rules();
  bool has_children(std::uint32_t place) const;

  std::vector<std::uint32_t> units_;
  std::string replacements_;
  bool separates_at_spaces_ = true;
};

}  // namespace rnnsearch::text
