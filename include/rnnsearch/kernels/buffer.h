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

}  // namespace rnnsearch::kernels
