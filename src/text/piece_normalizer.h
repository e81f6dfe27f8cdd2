// The normalisation that a SentencePiece model carries: the longest prefix that it has a rule for is replaced, again
// and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rnnsearch::text {

/// How SentencePiece writes a space.
inline constexpr std::string_view kPieceSpace = "\u2581";

/// One thread or many; never changes.
class PieceNormalizer {
 public:
  PieceNormalizer() = default;  // no rules
  /// charsmap: a model's `precompiled_charsmap`: bytes of a double array (Darts-clone) as uint32, the array, whose keys
  /// are what is replaced, then what replaces it, each ended by a NUL; empty: no rules. It is a file's: throws Error
  /// for what is damaged, also where only the library would read it.
  explicit PieceNormalizer(std::string_view charsmap);

  /// Whether the stretches between spaces of a text can be normalised each for itself, and spaces stand single in what
  /// comes out.
  bool separates_at_spaces() const { return separates_at_spaces_; }

  /// Appends `stretch`, which has no space, as it stands after a space or at the beginning of a line: the words that it
  /// becomes, each after kPieceSpace. Valid UTF-8 without NUL and kPieceSpace; separates_at_spaces().
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
