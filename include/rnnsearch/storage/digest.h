// XXH3-128 digests. They detect damage, but not tampering by an attacker.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct XXH3_state_s;

namespace rnnsearch::storage {

/// Two lower-case hexadecimal digits for each byte.
std::string hex(std::span<const unsigned char> bytes);

class Digest {
 public:
  Digest();

  Digest& add(std::span<const std::byte> bytes);
  Digest& add(std::string_view text) { return add(std::as_bytes(std::span(text))); }
  /// The digest of all bytes so far, big-endian. It does not depend on the division into calls.
  std::array<unsigned char, 16> bytes() const;
  std::string hex() const { return storage::hex(bytes()); }

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

/// The digest of a short text as two numbers, for tables.
struct ShortDigest {
  std::uint64_t high = 0, low = 0;
  friend auto operator<=>(const ShortDigest&, const ShortDigest&) = default;
};
ShortDigest short_digest(std::string_view bytes);

}  // namespace rnnsearch::storage
