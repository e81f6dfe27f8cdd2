// Loops over the elements of long arrays in blocks, on all threads.
#pragma once

#include <algorithm>
#include <cstddef>

#include "rnnsearch/base/ceil_div.h"
#include "rnnsearch/base/parallel.h"

namespace rnnsearch::train {

constexpr std::size_t kBlock = 16384;  // elements: 64 KiB of each array of floats, which fits into the L2 cache

/// Calls range(first, last) for every block of [0, size), on all threads, in any order.
template <class Range>
void for_blocks(std::size_t size, const Range& range) {
  parallel_for(ceil_div(size, kBlock), [&](std::size_t i) { range(i * kBlock, std::min(size, (i + 1) * kBlock)); });
}

}  // namespace rnnsearch::train
