// Replaces parts of a text in linear time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rnnsearch {

/// Replaces every `from` in `text` by `to`, from left to right; replacements are not searched again.
/// std::string::replace in a loop would move the rest of the text for each replacement. REQUIRES: `from` is not empty.
template <class Char>
void replace_all(std::basic_string<Char>& text, std::type_identity_t<std::basic_string_view<Char>> from,
                 std::type_identity_t<std::basic_string_view<Char>> to) {
  std::size_t at = text.find(from);
  if (at == text.npos) return;
  std::basic_string<Char> result;
  std::size_t copied = 0;
  for (; at != text.npos; at = text.find(from, copied)) {
    result.append(text, copied, at - copied).append(to);
    copied = at + from.size();
  }
  result.append(text, copied);
  text = std::move(result);
}

}  // namespace rnnsearch
