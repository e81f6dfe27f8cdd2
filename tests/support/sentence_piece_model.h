// Models of SentencePiece that no training makes.
#pragma once

#include <cstring>
#include <string>
#include <tuple>
#include <vector>

namespace rnnsearch::text {

/// A text or message of a protocol buffer.
inline std::string field(int number, const std::string& bytes) {
  std::string all{static_cast<char>(number << 3 | 2)};
  std::size_t size = bytes.size();
  for (; size >= 128; size >>= 7) all += static_cast<char>(size | 128);
  return all + static_cast<char>(size) + bytes;
}

/// A model whose normal pieces have these scores: SentencePiece's protocol buffer, written by hand.
inline std::string model_of(int type, bool byte_fallback,
                            const std::vector<std::tuple<std::string, float, int>>& pieces) {
  std::string model;
  for (const auto& [text, score, kind] : pieces) {
    std::string bits(sizeof score, '\0');
    std::memcpy(bits.data(), &score, sizeof score);
    model += field(1, field(1, text) + '\x15' + bits + '\x18' + static_cast<char>(kind));
  }
  const std::string trainer{'\x18', static_cast<char>(type), '\x98', '\x02', static_cast<char>(byte_fallback)};
  return model + field(2, trainer) + field(3, "");
}
inline const std::vector<std::tuple<std::string, float, int>> kSpecial{
    {"<unk>", 0.0f, 2}, {"<s>", 0.0f, 3}, {"</s>", 0.0f, 3}};

}  // namespace rnnsearch::text
