// Collectives that send large data in chunks, because MPI counts are int. The chunk size is a parameter for the tests.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace rnnsearch::comm {

/// Bytes of one MPI call: few enough that the stall check sees progress on a slow network.
inline constexpr std::size_t kChunk = std::size_t{1} << 24;

void broadcast_in_chunks(std::span<std::byte> bytes, int from, std::size_t chunk);
std::vector<std::string> gather_in_chunks(const std::string& text, std::size_t chunk);

}  // namespace rnnsearch::comm
