#include "rnnsearch/kernels/softmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>

#include "kernels/partition.h"
#include "kernels/row_tables.h"
#include "kernels/softmax_rows.h"
#include "kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

template <class T>
T add_bias(std::size_t n, const T* bias, T* x) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  auto largest = hn::Set(d, -std::numeric_limits<T>::infinity());
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto sum = hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, bias + i));
    hn::StoreU(sum, d, x + i);
    largest = hn::Max(largest, sum);
  }
  T result = hn::GetLane(hn::MaxOfLanes(d, largest));
  for (; i < n; ++i) {
    x[i] += bias[i];
    result = x[i] > result ? x[i] : result;
  }
  return result;
}

// The maximum and the log of the sum are subtracted one after the other. Their sum, in float, would lose digits that
// matter when the logits are large.
template <class D, class T>
HWY_INLINE auto above(D d, const T* x, T largest) {
  return hn::Sub(hn::LoadU(d, x), hn::Set(d, largest));
}

template <class T>
T sum_of_exp(std::size_t n, T largest, const T* x) {
  return sum_of<T>(n, [&](auto d, std::size_t i) HWY_ATTR { return exp_of(d, above(d, x + i, largest)); });
}

template <class T>
T exp_and_sum(std::size_t n, T largest, T* x) {
  return sum_of<T>(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto e = exp_of(d, above(d, x + i, largest));
    hn::StoreU(e, d, x + i);
    return e;
  });
}

template <class T>
void subtract_row(std::size_t n, T largest, T log, T* x) {
  for_each<T>(n, [&](auto d, std::size_t i)
                     HWY_ATTR { hn::StoreU(hn::Sub(above(d, x + i, largest), hn::Set(d, log)), d, x + i); });
}

template <class T>
void scale_row(std::size_t n, T factor, T* x) {
  for_each<T>(n, [&](auto d, std::size_t i)
                     HWY_ATTR { hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::Set(d, factor)), d, x + i); });
}

template <class T>
void mix_row(std::size_t n, T log_rest, T log_share, const T* from, T* to) {
  for_each<T>(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto a = hn::Add(hn::LoadU(d, to + i), hn::Set(d, log_rest));
    const auto b = hn::Add(hn::LoadU(d, from + i), hn::Set(d, log_share));
    // The comparison with a NaN is false, so a NaN in `a` stays; one in `b` is put back at the end.
    const auto above_a = hn::Gt(b, a);
    const auto most = hn::IfThenElse(above_a, b, a), least = hn::IfThenElse(above_a, a, b);
    const auto sum = hn::Add(most, hn::Log1p(d, exp_of(d, hn::Sub(least, most))));
    const auto never = hn::Eq(most, hn::Set(d, -std::numeric_limits<T>::infinity()));
    hn::StoreU(hn::IfThenElse(hn::IsNaN(b), b, hn::IfThenElse(never, most, sum)), d, to + i);
  });
}

template <class T>
constexpr SoftmaxRows<T> kSoftmaxRows = {add_bias<T>,     sum_of_exp<T>, exp_and_sum<T>,
                                         subtract_row<T>, scale_row<T>,  mix_row<T>};
RNNSEARCH_ROW_TABLE(float_softmax, kSoftmaxRows<float>)
RNNSEARCH_ROW_TABLE(double_softmax, kSoftmaxRows<double>)

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rnnsearch::kernels {

RNNSEARCH_CHOOSE_ROW_TABLE(float_softmax, SoftmaxRows<float>)
RNNSEARCH_CHOOSE_ROW_TABLE(double_softmax, SoftmaxRows<double>)

namespace {

// -log(exp(x - largest) / sum)
template <class Real>
double loss_of(Real x, Real largest, Real sum) {
  return std::log(static_cast<double>(sum)) + (static_cast<double>(largest) - static_cast<double>(x));
}

}  // namespace

template <class Real>
void log_softmax(std::span<const Real> bias, std::span<Real> logits) {
  assert(bias.size() == logits.size());
  if (logits.empty()) return;
  const SoftmaxRows<Real>& rows = row_table<SoftmaxRows<Real>>();
  std::vector<Real> largest, sums, factors;
  for (std::size_t first = 0; first < logits.size(); first += kWordsPerSum) {
    const std::size_t count = std::min(kWordsPerSum, logits.size() - first);
    const auto part = part_of_sum(rows, count, bias.data() + first, logits.data() + first);
    largest.push_back(part.largest);
    sums.push_back(part.sum);
  }
  const auto sum = log_sum<Real>(rows, largest, sums, factors);
  rows.subtract(logits.size(), sum.largest, sum.log, logits.data());
}

template <class Real>
void log_softmax(std::span<const Real> bias, MatrixView<Real> logits) {
  parallel_for(logits.rows, [&](std::size_t i) { log_softmax<Real>(bias, std::span(logits.row(i), logits.cols)); });
}

template <class Real>
void mix_log_probabilities(ConstMatrixView<Real> from, double share, MatrixView<Real> to) {
  assert(from.rows == to.rows && from.cols == to.cols && share >= 0 && share <= 1);
  const SoftmaxRows<Real>& rows = row_table<SoftmaxRows<Real>>();
  const auto log_rest = static_cast<Real>(std::log1p(-share)), log_share = static_cast<Real>(std::log(share));
  parallel_for(to.rows, [&](std::size_t i) { rows.mix(to.cols, log_rest, log_share, from.row(i), to.row(i)); });
}

template <class Real>
void interpolate(ConstMatrixView<Real> from, double share, MatrixView<Real> to) {
  assert(from.rows == to.rows && from.cols == to.cols);
  const auto rest = static_cast<Real>(1 - share), part = static_cast<Real>(share);
  for_each_row(to.rows, to.cols, [&](std::size_t i) {
    const Real* source = from.row(i);
    Real* target = to.row(i);
    for (std::size_t k = 0; k < to.cols; ++k) target[k] = rest * target[k] + part * source[k];
  });
}

template <class Real>
void softmax_cross_entropy(std::span<const Real> bias, MatrixView<Real> logits, std::span<const std::uint32_t> target,
                           std::span<double> loss, double label_smoothing) {
  assert(bias.size() == logits.cols && target.size() == logits.rows && loss.size() == logits.rows);
  const SoftmaxRows<Real>& rows = row_table<SoftmaxRows<Real>>();
  const Real share = static_cast<Real>(label_smoothing / static_cast<double>(logits.cols));  // E / K
  parallel_for(logits.rows, [&](std::size_t i) {
    Real* const row = logits.row(i);
    const Real largest = rows.add_bias(logits.cols, bias.data(), row), x = row[target[i]];
    const Real sum = rows.exp_and_sum(logits.cols, largest, row);
    loss[i] = loss_of(x, largest, sum);
    rows.scale(logits.cols, 1 / sum, row);
    row[target[i]] -= static_cast<Real>(1 - label_smoothing);
    if (label_smoothing == 0) return;
    for (std::size_t k = 0; k < logits.cols; ++k) row[k] -= share;
  });
}

template <class Real>
void softmax_loss(std::span<const Real> bias, MatrixView<Real> logits, std::span<const std::uint32_t> target,
                  std::span<double> loss) {
  assert(bias.size() == logits.cols && target.size() == logits.rows && loss.size() == logits.rows);
  const SoftmaxRows<Real>& rows = row_table<SoftmaxRows<Real>>();
  parallel_for(logits.rows, [&](std::size_t i) {
    Real* const row = logits.row(i);
    const Real largest = rows.add_bias(logits.cols, bias.data(), row);
    loss[i] = loss_of(row[target[i]], largest, rows.sum_of_exp(logits.cols, largest, row));
  });
}

template <class Real>
void maxout_forward(ConstMatrixView<Real> x, MatrixView<Real> t) {
  assert(x.rows == t.rows && x.cols == 2 * t.cols);
  for_each_row(t.rows, x.cols, [&](std::size_t i) {
    const Real* in = x.row(i);
    Real* out = t.row(i);
    for (std::size_t k = 0; k < t.cols; ++k) out[k] = in[2 * k] >= in[2 * k + 1] ? in[2 * k] : in[2 * k + 1];
  });
}

template <class Real>
void maxout_backward(ConstMatrixView<Real> x, ConstMatrixView<Real> t_gradient, MatrixView<Real> x_gradient) {
  assert(x.rows == t_gradient.rows && x.cols == 2 * t_gradient.cols && x_gradient.cols == x.cols);
  for_each_row(x.rows, x.cols, [&](std::size_t i) {
    const Real* in = x.row(i);
    const Real* gradient = t_gradient.row(i);
    Real* out = x_gradient.row(i);
    for (std::size_t k = 0; k < t_gradient.cols; ++k) {
      const bool even = in[2 * k] >= in[2 * k + 1];
      out[2 * k] = even ? gradient[k] : Real{0};
      out[2 * k + 1] = even ? Real{0} : gradient[k];
    }
  });
}

#define RNNSEARCH_INSTANTIATE(Real)                                                                            \
  template void log_softmax(std::span<const Real>, std::span<Real>);                                           \
  template void log_softmax(std::span<const Real>, MatrixView<Real>);                                          \
  template void mix_log_probabilities(ConstMatrixView<Real>, double, MatrixView<Real>);                        \
  template void softmax_cross_entropy(std::span<const Real>, MatrixView<Real>, std::span<const std::uint32_t>, \
                                      std::span<double>, double);                                              \
  template void interpolate(ConstMatrixView<Real>, double, MatrixView<Real>);                                  \
  template void softmax_loss(std::span<const Real>, MatrixView<Real>, std::span<const std::uint32_t>,          \
                             std::span<double>);                                                               \
  template void maxout_forward(ConstMatrixView<Real>, MatrixView<Real>);                                       \
  template void maxout_backward(ConstMatrixView<Real>, ConstMatrixView<Real>, MatrixView<Real>);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::kernels
#endif
