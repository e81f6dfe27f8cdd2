#include "rnnsearch/kernels/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <vector>
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

void Release::operator()(void* memory) const { std::free(memory); }

// Blocks are filled one after the other; a frame that needs more memory adds a block. When nothing is in use, several
// blocks are replaced by a single one that is as large as the peak use so far.
struct ScratchMemory {
  struct Block {
    std::unique_ptr<std::byte[], Release> memory;
    std::size_t size, used = 0;
    explicit Block(std::size_t bytes) : memory(static_cast<std::byte*>(allocate(bytes))), size(bytes) {}
  };
  std::vector<Block> blocks;
  std::size_t most = 0;  // peak number of bytes in use

  std::size_t in_use() const {
    std::size_t bytes = 0;
    for (const Block& block : blocks) bytes += block.used;
    return bytes;
  }

  void* take(std::size_t bytes) {
    bytes = (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
    if (blocks.empty() || blocks.back().size - blocks.back().used < bytes) {
      const std::size_t before = in_use();
      if (before == 0) blocks.clear();
      blocks.emplace_back(std::max(bytes, most > before ? most - before : 0));
    }
    Block& block = blocks.back();
    void* const taken = block.memory.get() + block.used;
    block.used += bytes;
    most = std::max(most, in_use());
    return taken;
  }

  void give_back_to(std::size_t count, std::size_t used) {
    if (count > 1 || used > 0) {
      while (blocks.size() > count) blocks.pop_back();
      blocks.back().used = used;
    } else if (blocks.size() > 1 || (!blocks.empty() && blocks.back().size < most)) {
      blocks.clear();
    } else if (!blocks.empty()) {
      blocks.back().used = 0;
    }
  }
};

Scratch::Scratch() : memory_(std::make_shared<ScratchMemory>()) {}

std::size_t Scratch::capacity() const {
  std::size_t bytes = 0;
  for (const auto& block : memory_->blocks) bytes += block.size;
  return bytes;
}

Scratch::Frame::Frame(const Scratch& scratch)
    : memory_(scratch.memory_),
      blocks_(memory_->blocks.size()),
      used_(memory_->blocks.empty() ? 0 : memory_->blocks.back().used) {}

Scratch::Frame::~Frame() { memory_->give_back_to(blocks_, used_); }

void* Scratch::Frame::take(std::size_t bytes) { return memory_->take(bytes); }

}  // namespace rnnsearch::kernels
