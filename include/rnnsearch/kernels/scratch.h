// Memory for matrices that live no longer than a call, or a part of one: what is called later uses it again, so that a
// computation takes as much as its hungriest moment and not the sum of all.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

struct ScratchMemory;

/// A handle: copies share one memory, which is kept from call to call. One thread at a time.
class Scratch {
 public:
  Scratch();

  /// Gives matrices that are valid until its end. Frames end in the reverse order of their beginning, as local
  /// variables do. Throws std::bad_alloc.
  class Frame {
   public:
    explicit Frame(const Scratch& scratch);
    ~Frame();
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

    /// The content is unspecified. Aligned to cache lines.
    template <class Real>
    MatrixView<Real> matrix(std::size_t rows, std::size_t cols) {
      return {static_cast<Real*>(take(rows * cols * sizeof(Real))), rows, cols};
    }
    template <class Real>
    MatrixView<Real> zeros(std::size_t rows, std::size_t cols) {
      const auto zero = matrix<Real>(rows, cols);
      if (rows * cols > 0) std::memset(zero.data, 0, rows * cols * sizeof(Real));
      return zero;
    }

   private:
    void* take(std::size_t bytes);

    std::shared_ptr<ScratchMemory> memory_;
    std::size_t blocks_, used_;  // before it
  };

  /// Bytes that it holds, for tests.
  std::size_t capacity() const;

 private:
  std::shared_ptr<ScratchMemory> memory_;
};

}  // namespace rnnsearch::kernels
