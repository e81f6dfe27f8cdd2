// Packs chunks as HDF5's filters do, without HDF5.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>

namespace rnnsearch::support {

/// Appends Fletcher's sums of the pairs of bytes, modulo 65535, as the filter fletcher32 does.
inline std::string with_checksum(const std::string& bytes) {
  std::uint64_t first = 0, second = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    const auto byte = [&](std::size_t at) { return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0u; };
    first = (first + (byte(i) << 8 | byte(i + 1))) % 65535;
    second = (second + first) % 65535;
  }
  std::string all = bytes;
  for (const std::uint64_t sum : {first, second}) {
    all += static_cast<char>(sum & 0xff);
    all += static_cast<char>(sum >> 8);
  }
  return all;
}

inline std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
            1);
  packed.resize(size);
  return packed;
}

}  // namespace rnnsearch::support
