// Views of row-major matrices. A view does not own its memory, which must outlive the view.
#pragma once

#include <cassert>
#include <cstddef>
#include <type_traits>

namespace rnnsearch {

/// What all arithmetic of kernels, layers and models computes with. A program is compiled with one of the two as a
/// whole: gradient checks need the digits of double.
#ifdef RNNSEARCH_DOUBLE
using Real = double;
#else
using Real = float;
#endif

/// [rows, cols], element (i, j) at data[i * stride + j]. `MatrixView<const float>` is read-only.
template <class Element>
struct MatrixView {
  Element* data = nullptr;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t stride = 0;

  MatrixView() = default;
  MatrixView(Element* data_, std::size_t rows_, std::size_t cols_) : MatrixView(data_, rows_, cols_, cols_) {}
  MatrixView(Element* data_, std::size_t rows_, std::size_t cols_, std::size_t stride_)
      : data(data_), rows(rows_), cols(cols_), stride(stride_) {}
  /// A writable view converts to a read-only one.
  template <class Other>
  requires std::is_same_v<const Other, Element> MatrixView(
      const MatrixView<Other>& other)  // NOLINT(google-explicit-constructor)
      : MatrixView(other.data, other.rows, other.cols, other.stride) {}

  Element* row(std::size_t i) const {
    assert(i < rows);
    return data + i * stride;
  }
  Element& operator()(std::size_t i, std::size_t j) const {
    assert(i < rows && j < cols);
    return data[i * stride + j];
  }
  MatrixView row_range(std::size_t first, std::size_t count) const {
    assert(first + count <= rows);
    return {data + first * stride, count, cols, stride};
  }
  MatrixView columns(std::size_t first, std::size_t count) const {
    assert(first + count <= cols);
    return {data + first, rows, count, stride};
  }
};

template <class Element>
using ConstMatrixView = MatrixView<const Element>;

using Matrix = MatrixView<Real>;
using ConstMatrix = ConstMatrixView<Real>;

}  // namespace rnnsearch
