// Memory for matrices: aligned to cache lines, on huge pages where it is large and the system has them, kept from batch
// to batch, never smaller than it once was.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

/// Throws std::bad_alloc. The content is unspecified.
void* allocate(std::size_t bytes);
struct Release {
  void operator()(void* memory) const;
};

template <class Real>
class Buffer {
 public:
  /// A view of rows * cols elements; what was there before is lost, the content is unspecified. Views handed out
  /// earlier are invalid after a call that asks for more than ever before.
  MatrixView<Real> shape(std::size_t rows, std::size_t cols) {
    const std::size_t count = rows * cols;
    if (count > capacity_) {
      memory_.reset();
      capacity_ = 0;  // in case there is not so much
      memory_.reset(static_cast<Real*>(allocate(count * sizeof(Real))));
      capacity_ = count;
    }
    view_ = {memory_.get(), rows, cols};
    return view_;
  }
  MatrixView<Real> zeros(std::size_t rows, std::size_t cols) {
    shape(rows, cols);
    if (rows * cols > 0) std::memset(memory_.get(), 0, rows * cols * sizeof(Real));
    return view_;
  }
  /// The last shape asked for.
  MatrixView<Real> view() const { return view_; }

 private:
  std::unique_ptr<Real[], Release> memory_;
  std::size_t capacity_ = 0;
  MatrixView<Real> view_;
};

}  // namespace rnnsearch::kernels
