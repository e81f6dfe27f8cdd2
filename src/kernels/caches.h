// The sizes of the processor's caches: they decide how products are cut, and never what they compute.
#pragma once

#include <cstddef>

namespace rnnsearch::kernels {

struct Caches {
  std::size_t level2 = 0;  // bytes, of one core
};

/// What the system says; the sizes of a common small core where it says nothing.
const Caches& caches();

}  // namespace rnnsearch::kernels
