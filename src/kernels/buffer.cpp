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
  // What is large goes back to the system when it is freed. By itself malloc would begin to keep it, up to 32 MB a
  // piece, in holes that the next one does not fit. Told so, it no longer chooses by itself what it keeps of small
  // ones.
  [[maybe_unused]] static const bool set =
      mallopt(M_MMAP_THRESHOLD, 2 * kHugePage) != 0 && mallopt(M_TRIM_THRESHOLD, 4 * kHugePage) != 0;
#endif
  const bool large = bytes >= 2 * kHugePage;
  void* memory = nullptr;
  if (posix_memalign(&memory, large ? kHugePage : kCacheLine, bytes) != 0) throw std::bad_alloc();
  // A step through a column of a large matrix touches a page a row: with small pages, the processor spends its time
  // looking up addresses. Only advice: where the system has no huge pages, nothing changes.
  if (large) madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return memory;
}

void Release::operator()(void* memory) const {
  std::free(memory);
}

}  // namespace rnnsearch::kernels
