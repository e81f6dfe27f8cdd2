#include "rnnsearch/layers/deep_output.h"

#include "rnnsearch/kernels/cells.h"
#include "rnnsearch/kernels/gates.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/kernels/softmax.h"

namespace rnnsearch::layers {
namespace {

// Whether x W + b is transformed into t in place.
bool sums_become_output(DeepOutputKind kind) {
  return kind == DeepOutputKind::kTanh || kind == DeepOutputKind::kAffine;
}

}  // namespace

template <class Real>
void DeepOutput<Real>::begin(std::size_t rows, std::size_t input_width) {
  const std::size_t width = weights_.W.cols;
  if (kind_ != DeepOutputKind::kLinear) {
    sums_.shape(rows, width);
    sums_gradient_.shape(rows, width);
  }
  switch (kind_) {
    case DeepOutputKind::kMaxout:
      t_.shape(rows, width / 2);
      break;
    case DeepOutputKind::kTanh:
    case DeepOutputKind::kAffine:
      t_.shape(rows, width);
      break;
    case DeepOutputKind::kLinear:
      t_.shape(rows, input_width);
      break;
    case DeepOutputKind::kMlp:
      t_.shape(rows, weights_.W_2.cols);
      t_gradient_.shape(rows, weights_.W_2.cols);
      break;
  }
}

template <class Real>
void DeepOutput<Real>::forward(std::size_t first, ConstMatrixView<Real> input) {
  const auto t = t_.view().row_range(first, input.rows);
  if (kind_ == DeepOutputKind::kLinear) {
    kernels::copy_rows<Real>(input, t);
    return;
  }
  const auto sums = sums_become_output(kind_) ? t : sums_.view().row_range(first, input.rows);
  kernels::multiply<Real>(input, weights_.W, sums);
  kernels::add_to_rows<Real>(weights_.b, sums);
  if (kind_ == DeepOutputKind::kMaxout) {
    kernels::maxout_forward<Real>(sums, t);
  } else if (kind_ == DeepOutputKind::kTanh) {
    kernels::tanh_forward<Real>(t);
  } else if (kind_ == DeepOutputKind::kMlp) {
    kernels::relu_forward<Real>(sums);
    kernels::multiply<Real>(sums, weights_.W_2, t);
    kernels::add_to_rows<Real>(weights_.b_2, t);
  }
}

template <class Real>
void DeepOutput<Real>::backward(std::size_t first, MatrixView<Real> t_gradient, MatrixView<Real> input_gradient) {
  const std::size_t R = t_gradient.rows;
  if (kind_ == DeepOutputKind::kLinear) {
    kernels::copy_rows<Real>(t_gradient, input_gradient);
    return;
  }
  const auto sums_gradient = sums_gradient_.view().row_range(first, R);
  if (kind_ == DeepOutputKind::kMaxout) {
    kernels::maxout_backward<Real>(sums_.view().row_range(first, R), t_gradient, sums_gradient);
  } else if (sums_become_output(kind_)) {
    kernels::copy_rows<Real>(t_gradient, sums_gradient);
    if (kind_ == DeepOutputKind::kTanh) kernels::tanh_backward<Real>(t_.view().row_range(first, R), sums_gradient);
  } else {
    kernels::copy_rows<Real>(t_gradient, t_gradient_.view().row_range(first, R));
    kernels::multiply_transposed<Real>(t_gradient, weights_.W_2, sums_gradient);
    kernels::relu_backward<Real>(sums_.view().row_range(first, R), sums_gradient);
  }
  kernels::multiply_transposed<Real>(sums_gradient, weights_.W, input_gradient);
}

template <class Real>
void DeepOutput<Real>::accumulate(ConstMatrixView<Real> input) {
  if (kind_ == DeepOutputKind::kLinear) return;
  kernels::accumulate_outer<Real>(input, sums_gradient_.view(), gradient_.W);
  kernels::add_column_sums<Real>(sums_gradient_.view(), gradient_.b);
  if (kind_ != DeepOutputKind::kMlp) return;
  kernels::accumulate_outer<Real>(sums_.view(), t_gradient_.view(), gradient_.W_2);
  kernels::add_column_sums<Real>(t_gradient_.view(), gradient_.b_2);
}

template class DeepOutput<float>;
template class DeepOutput<double>;

}  // namespace rnnsearch::layers
