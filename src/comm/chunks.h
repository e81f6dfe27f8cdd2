// The collectives with the size of a chunk as a parameter: MPI counts are int.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace rnnsearch::comm {

/// Bytes in one MPI call: few enough that on a slow network somebody sees it move.
inline constexpr std::size_t kChunk = std::size_t{1} << 24;

void broadcast_in_chunks(std::span<std::byte> bytes, int from, std::size_t chunk);
std::vector<std::string> gather_in_chunks(const std::string& text, std::size_t chunk);

}  // namespace rnnsearch::comm
