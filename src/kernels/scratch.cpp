#include "rnnsearch/kernels/scratch.h"

#include <algorithm>
#include <vector>

#include "rnnsearch/kernels/buffer.h"

namespace rnnsearch::kernels {
namespace {

constexpr std::size_t kLine = 64;

}  // namespace

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
    bytes = (bytes + kLine - 1) / kLine * kLine;
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

Scratch::Frame::~Frame() {
  memory_->give_back_to(blocks_, used_);
}

void* Scratch::Frame::take(std::size_t bytes) {
  return memory_->take(bytes);
}

}  // namespace rnnsearch::kernels
