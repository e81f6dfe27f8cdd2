#include "rnnsearch/kernels/buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace rnnsearch::kernels {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kHugePage = 2 << 20;

}  // namespace

void* allocate(std::size_t bytes) {
#ifdef __GLIBC__
  // Large blocks are returned to the system when they are freed. By default glibc's malloc raises its threshold
  // dynamically and keeps freed blocks of up to 32 MB, which fragments memory. Setting the mmap threshold turns off
  // this dynamic adjustment, so the trim threshold must be set too.
  [[maybe_unused]] static const bool set =
      mallopt(M_MMAP_THRESHOLD, 2 * kHugePage) != 0 && mallopt(M_TRIM_THRESHOLD, 4 * kHugePage) != 0;
#endif
  const bool large = bytes >= 2 * kHugePage;
  void* memory = nullptr;
  if (posix_memalign(&memory, large ? kHugePage : kCacheLine, bytes) != 0) throw std::bad_alloc();
  // Walking down a column of a large matrix touches a new page in every row; with small pages that causes a TLB miss
  // each time. This is only a hint: without huge pages in the system, nothing changes.
  if (large) madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return memory;
}

void Release::operator()(void* memory) const {
  std::free(memory);
}

}  // namespace rnnsearch::kernels
