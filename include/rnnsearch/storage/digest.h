// XXH3-128: notices damage. It does not keep an attacker out.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace rnnsearch::storage {

class Digest {
 public:
  Digest();
  ~Digest();
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;

  Digest& add(std::span<const std::byte> bytes);
  Digest& add(std::string_view text) { return add(std::as_bytes(std::span(text))); }
  /// Of all bytes so far, however they were divided into calls: 32 hexadecimal digits.
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The same of a few bytes at once, as numbers: for tables of what was seen.
struct ShortDigest {
  std::uint64_t high = 0, low = 0;
  friend auto operator<=>(const ShortDigest&, const ShortDigest&) = default;
};
ShortDigest short_digest(std::string_view bytes);

}  // namespace rnnsearch::storage
