// The collectives with the size of a chunk as a parameter: MPI counts are int.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace rnnsearch::comm {

/// Elements in one MPI call. The cut has no influence on the bits of a sum on which the algorithm itself has none.
inline constexpr std::size_t kChunk = std::size_t{1} << 28;

void sum_in_chunks(std::span<float> values, std::size_t chunk);
void broadcast_in_chunks(std::span<std::byte> bytes, int from, std::size_t chunk);
std::vector<std::string> gather_in_chunks(const std::string& text, std::size_t chunk);

}  // namespace rnnsearch::comm
