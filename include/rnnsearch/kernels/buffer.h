// Memory for intermediate results: aligned to cache lines, kept from batch to batch, never smaller than it once was.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

template <class Real>
class Buffer {
 public:
  /// A view of rows * cols elements; what was there before is lost, the content is unspecified. Views handed out
  /// earlier are invalid after a call that asks for more than ever before.
  MatrixView<Real> shape(std::size_t rows, std::size_t cols) {
    const std::size_t count = rows * cols;
    if (count > capacity_) {
      memory_.reset();
      memory_.reset(static_cast<Real*>(::operator new(count * sizeof(Real), kAlignment)));
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
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(Real* memory) const { ::operator delete(memory, kAlignment); }
  };
  std::unique_ptr<Real[], Free> memory_;
  std::size_t capacity_ = 0;
  MatrixView<Real> view_;
};

}  // namespace rnnsearch::kernels
