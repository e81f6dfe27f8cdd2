#include "rnnsearch/storage/digest.h"

#include <xxhash.h>

#include <array>
#include <new>

#include "rnnsearch/base/hex.h"

namespace rnnsearch::storage {

struct Digest::State {
  XXH3_state_t* state = XXH3_createState();
  State() {
    if (!state || XXH3_128bits_reset(state) == XXH_ERROR) throw std::bad_alloc();
  }
  ~State() { XXH3_freeState(state); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Digest::Digest() : state_(std::make_unique<State>()) {}
Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;

Digest& Digest::add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_128bits_update(state_->state, bytes.data(), bytes.size());
  return *this;
}

std::string Digest::hex() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_->state));
  return rnnsearch::hex(canonical.digest);
}

ShortDigest short_digest(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

}  // namespace rnnsearch::storage
