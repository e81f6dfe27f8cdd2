#include "text/model_proto.h"

#include <bit>
#include <cstring>
#include <limits>

#include "rnnsearch/base/error.h"

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
  void read(std::uint64_t number, float& value) const {
    if (number_ != number || wire_ != Wire::kFourBytes) return;
    std::uint32_t bits = 0;
    std::memcpy(&bits, text_.data(), sizeof bits);
    value = std::bit_cast<float>(bits);
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
    fields.read(2, piece.score);
    fields.read(3, piece.type, ModelProto::PieceType::kByte);
  }
  return piece;
}

}  // namespace

ModelProto ModelProto::parse(std::string_view bytes) {
  ModelProto model;
  for (Fields fields(bytes); fields.next();) {
    if (fields.is_text(1)) model.pieces.push_back(piece_of(fields.text()));
    if (fields.is_text(2)) {  // trainer_spec
      for (Fields trainer(fields.text()); trainer.next();) {
        trainer.read(3, model.type, ModelType::kChar);
        trainer.read(24, model.space_as_suffix);
        trainer.read(35, model.byte_fallback);
      }
    }
    if (fields.is_text(3)) {  // normalizer_spec
      for (Fields normalizer(fields.text()); normalizer.next();) {
        normalizer.read(2, model.charsmap);
        normalizer.read(3, model.adds_dummy_prefix);
        normalizer.read(4, model.removes_extra_spaces);
        normalizer.read(5, model.escapes_spaces);
      }
    }
    if (fields.is_text(5)) {  // denormalizer_spec
      for (Fields denormalizer(fields.text()); denormalizer.next();) denormalizer.read(2, model.joining_charsmap);
    }
  }
  return model;
}

}  // namespace rnnsearch::text
