// Memory for matrices, aligned to cache lines. Large buffers are on huge pages if the system has them. A buffer is
// reused from batch to batch and never shrinks.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

/// Allocates memory with unspecified content. Throws std::bad_alloc.
void* allocate(std::size_t bytes);
struct Release {
  void operator()(void* memory) const;
};

template <class Element>
class Buffer {
 public:
  /// Returns a matrix with unspecified content; the previous content is lost. Earlier views become invalid if the
  /// matrix is larger than all previous ones.
  MatrixView<Element> shape(std::size_t rows, std::size_t cols) {
    const std::size_t count = rows * cols;
    if (count > capacity_) {
      memory_.reset();
      capacity_ = 0;  // stays correct if allocate throws
      memory_.reset(static_cast<Element*>(allocate(count * sizeof(Element))));
      capacity_ = count;
    }
    view_ = {memory_.get(), rows, cols};
    return view_;
  }
  /// The same, filled with zeros.
  MatrixView<Element> zeros(std::size_t rows, std::size_t cols) {
    shape(rows, cols);
    if (rows * cols > 0) std::memset(memory_.get(), 0, rows * cols * sizeof(Element));
    return view_;
  }
  /// The matrix returned last.
  MatrixView<Element> view() const { return view_; }

 private:
  std::unique_ptr<Element[], Release> memory_;
  std::size_t capacity_ = 0;
  MatrixView<Element> view_;
};

// Temporary memory for matrices that live no longer than a call or a part of one. Later calls reuse it, so a
// computation needs its peak at any one time, not the sum of all its temporaries.

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
