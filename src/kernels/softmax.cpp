#include "rnnsearch/kernels/softmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>

#include "kernels/instruction_limit.h"
#include "kernels/partition.h"
#include "kernels/softmax_rows.h"
#include "kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

template <class T>
T largest_of(std::size_t n, const T* x) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  auto largest = hn::Set(d, -std::numeric_limits<T>::infinity());
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) largest = hn::Max(largest, hn::LoadU(d, x + i));
  T result = hn::GetLane(hn::MaxOfLanes(d, largest));
  for (; i < n; ++i) result = x[i] > result ? x[i] : result;
  return result;
}

template <class T>
LogSum<T> log_sum_row(std::size_t n, const T* x) {
  const T largest = largest_of(n, x);
  const T sum = sum_of<T>(
      n, [&](auto d, std::size_t i) HWY_ATTR { return exp_of(d, hn::Sub(hn::LoadU(d, x + i), hn::Set(d, largest))); });
  return {largest, std::log(static_cast<double>(sum))};
}

// The maximum and the log of the sum are subtracted one after the other: added up first, they would lose in float the
// digits that matter when the logits are large.
template <class D, class T>
HWY_INLINE auto log_share(D d, const T* x, T largest, T log) {
  return hn::Sub(hn::Sub(hn::LoadU(d, x), hn::Set(d, largest)), hn::Set(d, log));
}

template <class T>
void subtract_row(std::size_t n, LogSum<T> sum, T* x) {
  const T log = static_cast<T>(sum.log);
  for_each<T>(n, [&](auto d, std::size_t i) HWY_ATTR { hn::StoreU(log_share(d, x + i, sum.largest, log), d, x + i); });
}

template <class T>
void exp_minus_row(std::size_t n, LogSum<T> sum, T* x) {
  const T log = static_cast<T>(sum.log);
  for_each<T>(n, [&](auto d, std::size_t i)
                     HWY_ATTR { hn::StoreU(exp_of(d, log_share(d, x + i, sum.largest, log)), d, x + i); });
}

template <class T>
constexpr SoftmaxRows<T> kRows = {log_sum_row<T>, subtract_row<T>, exp_minus_row<T>};
const SoftmaxRows<float>* float_softmax() {
  return &kRows<float>;
}
const SoftmaxRows<double>* double_softmax() {
  return &kRows<double>;
}

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rnnsearch::kernels {

HWY_EXPORT(float_softmax);
HWY_EXPORT(double_softmax);

template <>
const SoftmaxRows<float>& softmax_rows() {
  static const SoftmaxRows<float>* const rows = (limit_instruction_set(), HWY_DYNAMIC_DISPATCH(float_softmax)());
  return *rows;
}
template <>
const SoftmaxRows<double>& softmax_rows() {
  static const SoftmaxRows<double>* const rows = (limit_instruction_set(), HWY_DYNAMIC_DISPATCH(double_softmax)());
  return *rows;
}

template <class Real>
void log_softmax(MatrixView<Real> logits) {
  parallel_for(logits.rows, [&](std::size_t i) {
    const LogSum<Real> sum = softmax_rows<Real>().log_sum(logits.cols, logits.row(i));
    softmax_rows<Real>().subtract(logits.cols, sum, logits.row(i));
  });
}

template <class Real>
void softmax_cross_entropy(MatrixView<Real> logits, std::span<const std::uint32_t> target, std::span<double> loss) {
  assert(target.size() == logits.rows && loss.size() == logits.rows);
  parallel_for(logits.rows, [&](std::size_t i) {
    Real* row = logits.row(i);
    const LogSum<Real> sum = softmax_rows<Real>().log_sum(logits.cols, row);
    loss[i] = sum.minus(row[target[i]]);
    softmax_rows<Real>().exp_minus(logits.cols, sum, row);
    row[target[i]] -= Real{1};
  });
}

template <class Real>
void softmax_loss(ConstMatrixView<Real> logits, std::span<const std::uint32_t> target, std::span<double> loss) {
  assert(target.size() == logits.rows && loss.size() == logits.rows);
  parallel_for(logits.rows, [&](std::size_t i) {
    const Real* row = logits.row(i);
    loss[i] = softmax_rows<Real>().log_sum(logits.cols, row).minus(row[target[i]]);
  });
}

template <class Real>
void maxout_forward(ConstMatrixView<Real> x, MatrixView<Real> t) {
  assert(x.rows == t.rows && x.cols == 2 * t.cols);
  parallel_ranges(t.rows, rows_a_piece(x.cols), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const Real* in = x.row(i);
      Real* out = t.row(i);
      for (std::size_t k = 0; k < t.cols; ++k) out[k] = in[2 * k] >= in[2 * k + 1] ? in[2 * k] : in[2 * k + 1];
    }
  });
}

template <class Real>
void maxout_backward(ConstMatrixView<Real> x, ConstMatrixView<Real> t_gradient, MatrixView<Real> x_gradient) {
  assert(x.rows == t_gradient.rows && x.cols == 2 * t_gradient.cols && x_gradient.cols == x.cols);
  parallel_ranges(x.rows, rows_a_piece(x.cols), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const Real* in = x.row(i);
      const Real* gradient = t_gradient.row(i);
      Real* out = x_gradient.row(i);
      for (std::size_t k = 0; k < t_gradient.cols; ++k) {
        const bool even = in[2 * k] >= in[2 * k + 1];
        out[2 * k] = even ? gradient[k] : Real{0};
        out[2 * k + 1] = even ? Real{0} : gradient[k];
      }
    }
  });
}

#define RNNSEARCH_INSTANTIATE(Real)                                                                         \
  template void log_softmax(MatrixView<Real>);                                                              \
  template void softmax_cross_entropy(MatrixView<Real>, std::span<const std::uint32_t>, std::span<double>); \
  template void softmax_loss(ConstMatrixView<Real>, std::span<const std::uint32_t>, std::span<double>);     \
  template void maxout_forward(ConstMatrixView<Real>, MatrixView<Real>);                                    \
  template void maxout_backward(ConstMatrixView<Real>, ConstMatrixView<Real>, MatrixView<Real>);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::kernels
#endif
