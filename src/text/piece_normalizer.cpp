#include "text/piece_normalizer.h"

#include <cstring>

#include "rnnsearch/base/error.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::text {
namespace {

// Accessors for a unit of a double array in the format of Darts-clone.
bool has_value(std::uint32_t unit) {
  return (unit >> 8 & 1) != 0;
}
std::uint32_t value_of(std::uint32_t unit) {
  return unit & 0x7FFFFFFFu;
}
std::uint32_t label_of(std::uint32_t unit) {
  return unit & 0x800000FFu;
}
std::uint32_t offset_of(std::uint32_t unit) {
  return unit >> 10 << ((unit & 1u << 9) >> 6);
}

// Maximum length of a chain of keys that are prefixes of each other: SentencePiece has room for this many matches at
// one position of a line.
constexpr int kLongestChain = 32;

[[noreturn]] void fail() {
  throw Error("its precompiled_charsmap is damaged");
}

}  // namespace

PieceNormalizer::PieceNormalizer(std::string_view charsmap) {
  if (charsmap.empty()) return;
  std::uint32_t bytes = 0;
  if (charsmap.size() > sizeof bytes) std::memcpy(&bytes, charsmap.data(), sizeof bytes);
  if (bytes == 0 || bytes % sizeof bytes != 0 || sizeof bytes + bytes >= charsmap.size() || charsmap.back() != '\0')
    fail();
  units_.resize(bytes / sizeof bytes);
  std::memcpy(units_.data(), charsmap.data() + sizeof bytes, bytes);
  replacements_ = charsmap.substr(sizeof bytes + bytes);
  check_rules();
}

// Checks that every walk stays inside the array, for any line. separates_at_spaces() holds if no key contains a space
// (except a rule that replaces a space by a space) and no replacement has two spaces in a row or kPieceSpace.
void PieceNormalizer::check_rules() {
  const std::uint32_t root = offset_of(units_[0]);
  std::vector<std::uint32_t> open;                     // places whose children are still to be visited
  std::vector<std::int8_t> chains(units_.size(), -1);  // length of the longest chain to each place; -1 if unreachable
  const auto reach = [&](std::uint32_t place, int chain) {
    if ((place | 255u) >= units_.size() || chain > kLongestChain) fail();
    if (chains[place] >= chain) return;  // already visited, because keys may share their ends
    chains[place] = static_cast<std::int8_t>(chain);
    open.push_back(place);
  };
  reach(root, 0);
  while (!open.empty()) {
    const std::uint32_t parent = open.back();
    open.pop_back();
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t unit = units_[parent ^ byte];
      if (label_of(unit) != byte) continue;
      const std::uint32_t place = parent ^ byte ^ offset_of(unit);
      if (place == root) fail();
      reach(place, chains[parent] + has_value(unit));
      if (byte == ' ' && (parent != root || has_children(place))) separates_at_spaces_ = false;
      if (!has_value(unit)) continue;
      if (value_of(units_[place]) >= replacements_.size()) fail();
      const std::string_view replacement = replacements_.c_str() + value_of(units_[place]);
      if (first_invalid_utf8(replacement)) fail();
      if (replacement.find("  ") != replacement.npos || replacement.find(kPieceSpace) != replacement.npos ||
          (byte == ' ' && replacement != " "))
        separates_at_spaces_ = false;
    }
  }
}

bool PieceNormalizer::has_children(std::uint32_t place) const {
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    if (label_of(units_[place ^ byte]) == byte) return true;
  }
  return false;
}

PieceNormalizer::Prefix PieceNormalizer::prefix_of(std::string_view text) const {
  std::size_t longest = 0;
  std::uint32_t value = 0;
  if (!units_.empty()) {
    std::uint32_t place = offset_of(units_[0]);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<std::uint8_t>(text[i]);
      place ^= byte;
      if (place >= units_.size() || label_of(units_[place]) != byte) break;
      const std::uint32_t unit = units_[place];
      place ^= offset_of(unit);
      if (!has_value(unit)) continue;
      longest = i + 1;
      value = value_of(units_[place]);
    }
  }
  if (longest > 0) return {replacements_.c_str() + value, longest};
  const std::size_t size = utf8_size(text.front());
  return {text.substr(0, size), size};
}

void PieceNormalizer::append(std::string_view stretch, std::string& text) const {
  const std::size_t begin = text.size();
  text += kPieceSpace;
  for (bool after_space = true; !stretch.empty();) {
    auto [replacement, size] = prefix_of(stretch);
    stretch.remove_prefix(size);
    if (after_space && replacement.starts_with(' ')) replacement.remove_prefix(1);
    if (replacement.empty()) continue;
    for (const char c : replacement) {
      if (c == ' ') {
        text += kPieceSpace;
      } else {
        text += c;
      }
    }
    after_space = replacement.ends_with(' ');
  }
  if (text.ends_with(kPieceSpace) && text.size() > begin) text.resize(text.size() - kPieceSpace.size());
}

}  // namespace rnnsearch::text
