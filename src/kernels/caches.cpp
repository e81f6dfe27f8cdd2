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
  static const Caches sizes = {size_of(_SC_LEVEL2_CACHE_SIZE, 256 << 10)};
#else
  static const Caches sizes = {256 << 10};
#endif
  return sizes;
}

}  // namespace rnnsearch::kernels
