// Temporary memory for matrices that live no longer than a call or a part of one. Later calls reuse it, so a
// computation needs its peak at any one time, not the sum of all its temporaries.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

struct ScratchMemory;

/// A handle; copies share the same memory, which is kept from call to call. Not thread-safe.
class Scratch {
 public:
  Scratch();

  /// Allocates matrices that are valid until the frame is destroyed. Frames must be destroyed in reverse order of
  /// construction, like local variables. Throws std::bad_alloc.
  class Frame {
   public:
    explicit Frame(const Scratch& scratch);
    ~Frame();
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

    /// The content is unspecified. Aligned to cache lines.
    Matrix matrix(std::size_t rows, std::size_t cols) {
      return {static_cast<Real*>(take(rows * cols * sizeof(Real))), rows, cols};
    }
    Matrix zeros(std::size_t rows, std::size_t cols) {
      const auto zero = matrix(rows, cols);
      if (rows * cols > 0) std::memset(zero.data, 0, rows * cols * sizeof(Real));
      return zero;
    }

   private:
    void* take(std::size_t bytes);

    std::shared_ptr<ScratchMemory> memory_;
    std::size_t blocks_, used_;  // state of the memory before this frame
  };

  /// The number of bytes allocated, for tests.
  std::size_t capacity() const;

 private:
  std::shared_ptr<ScratchMemory> memory_;
};

}  // namespace rnnsearch::kernels
