// The cache sizes of the processor. They determine how products are divided into blocks, but not their results.
#pragma once

#include <cstddef>

namespace rnnsearch::kernels {

struct Caches {
  std::size_t level1 = 0;  // bytes of the L1 data cache of one core
  std::size_t level2 = 0;  // bytes of the L2 cache of one core
  std::size_t level3 = 0;  // bytes of the L3 cache, which several cores share; 0 if the system does not tell
};

/// The sizes that the system reports, or those of a common small core if it reports none.
const Caches& caches();

}  // namespace rnnsearch::kernels
