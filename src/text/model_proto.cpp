#include "text/model_proto.h"

#include <cstring>
#include <limits>
#include <string>

#include "rnnsearch/base/error.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::text {
namespace {

/// Iterates over the fields of a message in the order of its bytes.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}

  bool next() {
    if (bytes_.empty()) return false;
    const std::uint64_t tag = varint();
    if (tag > std::numeric_limits<std::uint32_t>::max()) fail();
    number_ = tag >> 3;
    wire_ = static_cast<Wire>(tag & 7);
    switch (wire_) {
      case Wire::kInteger:
        integer_ = varint();
        break;
      case Wire::kEightBytes:
        text_ = take(8);
        break;
      case Wire::kText:
        text_ = take(varint());
        break;
      case Wire::kFourBytes:
        text_ = take(4);
        break;
      default:
        fail();
    }
    return true;
  }

  // Whether this is field `number` with the wire type of texts; with another wire type it is an unknown field.
  bool is_text(std::uint64_t number) const { return number_ == number && wire_ == Wire::kText; }
  std::string_view text() const { return text_; }

  // These functions change `value` only if this is field `number` with a valid value.
  void read(std::uint64_t number, std::string_view& value) const {
    if (is_text(number)) value = text_;
  }
  void read(std::uint64_t number, bool& value) const {
    if (number_ == number && wire_ == Wire::kInteger) value = integer_ != 0;
  }
  // Reads an enumeration from 1 to `last`, of which only the low 32 bits count.
  template <class Enum>
  void read(std::uint64_t number, Enum& value, Enum last) const {
    if (number_ != number || wire_ != Wire::kInteger) return;
    const auto read = static_cast<std::uint32_t>(integer_);
    if (read >= 1 && read <= static_cast<std::uint32_t>(last)) value = static_cast<Enum>(read);
  }

 private:
  enum class Wire { kInteger = 0, kEightBytes = 1, kText = 2, kFourBytes = 5 };

  [[noreturn]] static void fail() { throw Error("it is not a model of SentencePiece"); }
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size()) fail();
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(take(1).front());
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    fail();
  }

  std::string_view bytes_, text_;
  std::uint64_t number_ = 0, integer_ = 0;
  Wire wire_ = Wire::kInteger;
};

ModelProto::Piece piece_of(std::string_view bytes) {
  ModelProto::Piece piece;
  for (Fields fields(bytes); fields.next();) {
    fields.read(1, piece.text);
    fields.read(3, piece.type, ModelProto::PieceType::kByte);
  }
  return piece;
}

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

[[noreturn]] void fail_on_rules() {
  throw Error("its precompiled_charsmap is damaged");
}

/// The normalization rules of a model: at each position of a text, the longest prefix that is a key is replaced.
/// charsmap: the number of bytes of a double array (Darts-clone) as uint32, the array, which holds the keys, and the
/// replacements, each terminated by a NUL; or nothing, for no rules. Throws Error unless every walk stays inside the
/// array, for any text. Returns whether words are normalized independently: no key holds a space (except a rule that
/// replaces a space by a space), and no replacement two spaces in a row or kPieceSpace.
bool check_rules(std::string_view charsmap) {
  if (charsmap.empty()) return true;
  std::uint32_t bytes = 0;
  if (charsmap.size() > sizeof bytes) std::memcpy(&bytes, charsmap.data(), sizeof bytes);
  if (bytes == 0 || bytes % sizeof bytes != 0 || sizeof bytes + bytes >= charsmap.size() || charsmap.back() != '\0')
    fail_on_rules();
  std::vector<std::uint32_t> units(bytes / sizeof bytes);
  std::memcpy(units.data(), charsmap.data() + sizeof bytes, bytes);
  const std::string_view replacements = charsmap.substr(sizeof bytes + bytes);
  bool independent = true;
  const std::uint32_t root = offset_of(units[0]);
  std::uint32_t space = root;                         // the place of the key " "
  std::vector<std::uint32_t> open;                    // places whose children are still to be visited
  std::vector<std::int8_t> chains(units.size(), -1);  // length of the longest chain to each place; -1 if unreachable
  const auto reach = [&](std::uint32_t place, int chain) {
    if ((place | 255u) >= units.size() || chain > kLongestChain) fail_on_rules();
    if (chains[place] >= chain) return;  // already visited, because keys may share their ends
    chains[place] = static_cast<std::int8_t>(chain);
    open.push_back(place);
  };
  reach(root, 0);
  while (!open.empty()) {
    const std::uint32_t parent = open.back();
    open.pop_back();
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t unit = units[parent ^ byte];
      if (label_of(unit) != byte) continue;
      const std::uint32_t place = parent ^ byte ^ offset_of(unit);
      if (place == root) fail_on_rules();
      reach(place, chains[parent] + has_value(unit));
      if (byte == ' ' && parent == root) space = place;
      independent = independent && (byte != ' ' || parent == root) && (parent != space || space == root);
      if (!has_value(unit)) continue;
      if (value_of(units[place]) >= replacements.size()) fail_on_rules();
      const std::string_view replacement = replacements.data() + value_of(units[place]);
      if (first_invalid_utf8(replacement)) fail_on_rules();
      if (replacement.find("  ") != replacement.npos || replacement.find(kPieceSpace) != replacement.npos ||
          (byte == ' ' && replacement != " "))
        independent = false;
    }
  }
  return independent;
}

}  // namespace

ModelProto ModelProto::parse(std::string_view bytes) {
  ModelProto model;
  std::string_view joining_charsmap;
  bool space_as_suffix = false;  // treat_whitespace_as_suffix
  bool adds_dummy_prefix = true, removes_extra_spaces = true, escapes_spaces = true;
  for (Fields fields(bytes); fields.next();) {
    if (fields.is_text(1)) model.pieces.push_back(piece_of(fields.text()));
    if (fields.is_text(2)) {  // trainer_spec
      for (Fields trainer(fields.text()); trainer.next();) {
        trainer.read(3, model.type, ModelType::kChar);
        trainer.read(24, space_as_suffix);
      }
    }
    if (fields.is_text(3)) {  // normalizer_spec
      for (Fields normalizer(fields.text()); normalizer.next();) {
        normalizer.read(2, model.charsmap);
        normalizer.read(3, adds_dummy_prefix);
        normalizer.read(4, removes_extra_spaces);
        normalizer.read(5, escapes_spaces);
      }
    }
    if (fields.is_text(5)) {  // denormalizer_spec
      for (Fields denormalizer(fields.text()); denormalizer.next();) denormalizer.read(2, joining_charsmap);
    }
  }
  const bool independent = check_rules(model.charsmap);
  check_rules(joining_charsmap);
  bool has_space = false, crossing = false;
  for (const Piece& piece : model.pieces) {
    if (piece.type == PieceType::kUnknown || piece.type == PieceType::kControl) continue;
    has_space = has_space || piece.text == kPieceSpace;
    crossing =
        crossing || piece.text.find(kPieceSpace, 1) != piece.text.npos || piece.text.find(' ') != piece.text.npos;
  }
  model.words_apart = independent && has_space && !crossing && adds_dummy_prefix && removes_extra_spaces &&
                      escapes_spaces && !space_as_suffix;
  return model;
}

}  // namespace rnnsearch::text
