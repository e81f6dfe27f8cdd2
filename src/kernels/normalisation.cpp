#include "rnnsearch/kernels/normalisation.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/normalisation.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "kernels/dispatch.h"
#include "kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

void normalise_forward(const NormaliseForward& args, std::size_t first, std::size_t last) {
  const std::size_t W = args.a.cols;
  assert(args.g.size() == W && args.b.size() == W && args.y.cols == W && args.normalised.cols == W);
  const auto width = static_cast<Real>(W);
  const Real *const g = args.g.data(), *const b = args.b.data();
  for (std::size_t row = first; row < last; ++row) {
    const Real* const a = args.a.row(row);
    Real *const normalised = args.normalised.row(row), *const y = args.y.row(row);
    const Real mean =
        sum_of(W, [&](auto d, std::size_t k, auto sum) HWY_ATTR { return hn::Add(sum, hn::LoadU(d, a + k)); }) / width;
    // Computed from the differences and not from the squares of a, which would lose digits if the mean is large.
    const Real squares = sum_of(W, [&](auto d, std::size_t k, auto sum) HWY_ATTR {
      const auto difference = hn::Sub(hn::LoadU(d, a + k), hn::Set(d, mean));
      return hn::MulAdd(difference, difference, sum);
    });
    const Real inverse = 1 / std::sqrt(squares / width + static_cast<Real>(1e-5));
    for_each(W, [&](auto d, std::size_t k) HWY_ATTR {
      const auto value = hn::Mul(hn::Sub(hn::LoadU(d, a + k), hn::Set(d, mean)), hn::Set(d, inverse));
      hn::StoreU(value, d, normalised + k);
      hn::StoreU(hn::MulAdd(hn::LoadU(d, g + k), value, hn::LoadU(d, b + k)), d, y + k);
    });
    args.inverse_deviation(row, 0) = inverse;
  }
}

// With t = g o dL/dy and the normalised row v: dL/da = (t - mean(t) - v mean(t o v)) / sqrt(sigma^2 + epsilon)
void normalise_backward(const NormaliseBackward& args, std::size_t first, std::size_t last) {
  const std::size_t W = args.y_gradient.cols;
  assert(args.g.size() == W && args.normalised.cols == W && args.a_gradient.cols == W);
  const auto width = static_cast<Real>(W);
  const Real* const g = args.g.data();
  for (std::size_t row = first; row < last; ++row) {
    const Real *const y_gradient = args.y_gradient.row(row), *const normalised = args.normalised.row(row);
    const Real inverse_deviation = args.inverse_deviation(row, 0);
    Real* const a_gradient = args.a_gradient.row(row);
    const auto t = [&](auto d, std::size_t k)
                       HWY_ATTR { return hn::Mul(hn::LoadU(d, g + k), hn::LoadU(d, y_gradient + k)); };
    const Real mean =
        sum_of(W, [&](auto d, std::size_t k, auto sum) HWY_ATTR { return hn::Add(sum, t(d, k)); }) / width;
    const Real along = sum_of(W, [&](auto d, std::size_t k, auto sum)
                                     HWY_ATTR { return hn::MulAdd(t(d, k), hn::LoadU(d, normalised + k), sum); }) /
                       width;
    for_each(W, [&](auto d, std::size_t k) HWY_ATTR {
      const auto centred = hn::Sub(t(d, k), hn::Set(d, mean));
      const auto rest = hn::NegMulAdd(hn::LoadU(d, normalised + k), hn::Set(d, along), centred);
      hn::StoreU(hn::Mul(rest, hn::Set(d, inverse_deviation)), d, a_gradient + k);
    });
  }
}

// Of columns [first, last).
void normalise_accumulate(const NormaliseAccumulate& args, std::size_t first, std::size_t last) {
  Real *const g_gradient = args.g_gradient.data() + first, *const b_gradient = args.b_gradient.data() + first;
  for (std::size_t row = 0; row < args.y_gradient.rows; ++row) {
    const Real *const y_gradient = args.y_gradient.row(row) + first, *const v = args.normalised.row(row) + first;
    for_each(last - first, [&](auto d, std::size_t k) HWY_ATTR {
      const auto dy = hn::LoadU(d, y_gradient + k);
      hn::StoreU(hn::MulAdd(dy, hn::LoadU(d, v + k), hn::LoadU(d, g_gradient + k)), d, g_gradient + k);
      hn::StoreU(hn::Add(dy, hn::LoadU(d, b_gradient + k)), d, b_gradient + k);
    });
  }
}

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rnnsearch::kernels {

RNNSEARCH_ROW_KERNEL(normalise_forward, NormaliseForward, args.a.rows, rows_per_piece(4 * args.a.cols))
RNNSEARCH_ROW_KERNEL(normalise_backward, NormaliseBackward, args.y_gradient.rows,
                     rows_per_piece(4 * args.y_gradient.cols))
RNNSEARCH_ROW_KERNEL(normalise_accumulate, NormaliseAccumulate, args.y_gradient.cols, kColumnsPerPiece)

}  // namespace rnnsearch::kernels
#endif
