#include "kernels/caches.h"

#include <unistd.h>

namespace rnnsearch::kernels {
namespace {

std::size_t size_of(int name, std::size_t otherwise) {
  const long bytes = sysconf(name);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : otherwise;
}

}  // namespace

const Caches& caches() {
#ifdef _SC_LEVEL2_CACHE_SIZE  // an extension of the GNU C library
  static const Caches sizes = {size_of(_SC_LEVEL1_DCACHE_SIZE, 32 << 10), size_of(_SC_LEVEL2_CACHE_SIZE, 256 << 10),
                               size_of(_SC_LEVEL3_CACHE_SIZE, 0)};
#else
  static const Caches sizes = {32 << 10, 256 << 10, 0};
#endif
  return sizes;
}

}  // namespace rnnsearch::kernels
