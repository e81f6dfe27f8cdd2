#include "rnnsearch/kernels/normalisation.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/normalisation.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "kernels/normalisation_rows.h"
#include "kernels/partition.h"
#include "kernels/row_tables.h"
#include "kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

template <class T>
T normalise_row(std::size_t n, const T* a, const T* g, const T* b, T* normalised, T* y) {
  const auto width = static_cast<T>(n);
  const T mean = sum_of<T>(n, [&](auto d, std::size_t k) HWY_ATTR { return hn::LoadU(d, a + k); }) / width;
  // Computed from the differences and not from the squares of a, which would lose digits if the mean is large.
  const T squares = sum_of<T>(n, [&](auto d, std::size_t k) HWY_ATTR {
    const auto difference = hn::Sub(hn::LoadU(d, a + k), hn::Set(d, mean));
    return hn::Mul(difference, difference);
  });
  const T inverse = 1 / std::sqrt(squares / width + static_cast<T>(1e-5));
  for_each<T>(n, [&](auto d, std::size_t k) HWY_ATTR {
    const auto value = hn::Mul(hn::Sub(hn::LoadU(d, a + k), hn::Set(d, mean)), hn::Set(d, inverse));
    hn::StoreU(value, d, normalised + k);
    hn::StoreU(hn::MulAdd(hn::LoadU(d, g + k), value, hn::LoadU(d, b + k)), d, y + k);
  });
  return inverse;
}

// With t = g o dL/dy and the normalised row v: dL/da = (t - mean(t) - v mean(t o v)) / sqrt(sigma^2 + epsilon)
template <class T>
void normalise_backward_row(std::size_t n, const T* y_gradient, const T* g, const T* normalised, T inverse_deviation,
                            T* a_gradient) {
  const auto width = static_cast<T>(n);
  const auto t = [&](auto d, std::size_t k)
                     HWY_ATTR { return hn::Mul(hn::LoadU(d, g + k), hn::LoadU(d, y_gradient + k)); };
  const T mean = sum_of<T>(n, t) / width;
  const T along =
      sum_of<T>(n, [&](auto d, std::size_t k) HWY_ATTR { return hn::Mul(t(d, k), hn::LoadU(d, normalised + k)); }) /
      width;
  for_each<T>(n, [&](auto d, std::size_t k) HWY_ATTR {
    const auto centred = hn::Sub(t(d, k), hn::Set(d, mean));
    const auto rest = hn::NegMulAdd(hn::LoadU(d, normalised + k), hn::Set(d, along), centred);
    hn::StoreU(hn::Mul(rest, hn::Set(d, inverse_deviation)), d, a_gradient + k);
  });
}

template <class T>
void normalise_accumulate_row(std::size_t n, const T* y_gradient, const T* normalised, T* g_gradient, T* b_gradient) {
  for_each<T>(n, [&](auto d, std::size_t k) HWY_ATTR {
    const auto dy = hn::LoadU(d, y_gradient + k);
    hn::StoreU(hn::MulAdd(dy, hn::LoadU(d, normalised + k), hn::LoadU(d, g_gradient + k)), d, g_gradient + k);
    hn::StoreU(hn::Add(dy, hn::LoadU(d, b_gradient + k)), d, b_gradient + k);
  });
}

template <class T>
constexpr NormalisationRows<T> kNormalisationRows = {normalise_row<T>, normalise_backward_row<T>,
                                                     normalise_accumulate_row<T>};
RNNSEARCH_ROW_TABLE(float_normalisation, kNormalisationRows<float>)
RNNSEARCH_ROW_TABLE(double_normalisation, kNormalisationRows<double>)

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rnnsearch::kernels {

RNNSEARCH_CHOOSE_ROW_TABLE(float_normalisation, NormalisationRows<float>)
RNNSEARCH_CHOOSE_ROW_TABLE(double_normalisation, NormalisationRows<double>)

namespace {
constexpr std::size_t kColumns = 64;  // columns in a piece, for sums over rows that must be added in order
}  // namespace

template <class Real>
void normalise_forward(const NormaliseForward<Real>& of) {
  const std::size_t W = of.a.cols;
  assert(of.g.size() == W && of.b.size() == W && of.y.cols == W && of.normalised.cols == W);
  for_each_row(of.a.rows, 4 * W, [&](std::size_t i) {
    of.inverse_deviation(i, 0) = row_table<NormalisationRows<Real>>().forward(W, of.a.row(i), of.g.data(), of.b.data(),
                                                                              of.normalised.row(i), of.y.row(i));
  });
}

template <class Real>
void normalise_backward(const NormaliseBackward<Real>& of) {
  const std::size_t W = of.y_gradient.cols;
  assert(of.g.size() == W && of.normalised.cols == W && of.a_gradient.cols == W);
  for_each_row(of.y_gradient.rows, 4 * W, [&](std::size_t i) {
    row_table<NormalisationRows<Real>>().backward(W, of.y_gradient.row(i), of.g.data(), of.normalised.row(i),
                                                  of.inverse_deviation(i, 0), of.a_gradient.row(i));
  });
}

template <class Real>
void normalise_accumulate(ConstMatrixView<Real> y_gradient, ConstMatrixView<Real> normalised,
                          std::span<Real> g_gradient, std::span<Real> b_gradient) {
  assert(y_gradient.cols == g_gradient.size() && y_gradient.cols == b_gradient.size());
  parallel_ranges(y_gradient.cols, kColumns, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = 0; i < y_gradient.rows; ++i) {
      row_table<NormalisationRows<Real>>().accumulate(last - first, y_gradient.row(i) + first,
                                                      normalised.row(i) + first, g_gradient.data() + first,
                                                      b_gradient.data() + first);
    }
  });
}

#define RNNSEARCH_INSTANTIATE(Real)                                 \
  template void normalise_forward(const NormaliseForward<Real>&);   \
  template void normalise_backward(const NormaliseBackward<Real>&); \
  template void normalise_accumulate(ConstMatrixView<Real>, ConstMatrixView<Real>, std::span<Real>, std::span<Real>);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::kernels
#endif
