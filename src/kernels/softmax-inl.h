// The softmax of one row, for the kernels, compiled for every instruction set.
#if defined(RNNSEARCH_KERNELS_SOFTMAX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RNNSEARCH_KERNELS_SOFTMAX_INL_H
#undef RNNSEARCH_KERNELS_SOFTMAX_INL_H
#else
#define RNNSEARCH_KERNELS_SOFTMAX_INL_H
#endif

#include <limits>
#include <span>
#include <vector>

#include "kernels/dispatch.h"
#include "kernels/vector-inl.h"
#include "rnnsearch/base/portable.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

/// x = x + bias. Returns the largest element.
inline Real add_bias(std::size_t n, const Real* bias, Real* x) {
  const hn::ScalableTag<Real> d;
  const std::size_t lanes = hn::Lanes(d);
  auto largest = hn::Set(d, -std::numeric_limits<Real>::infinity());
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto sum = hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, bias + i));
    hn::StoreU(sum, d, x + i);
    largest = hn::Max(largest, sum);
  }
  Real result = hn::GetLane(hn::MaxOfLanes(d, largest));
  for (; i < n; ++i) {
    x[i] += bias[i];
    result = x[i] > result ? x[i] : result;
  }
  return result;
}

// The maximum and the log of the sum are subtracted one after the other. Their sum, in float, would lose digits that
// matter when the logits are large.
template <class D>
HWY_INLINE auto above(D d, const Real* x, Real largest) {
  return hn::Sub(hn::LoadU(d, x), hn::Set(d, largest));
}

/// The sum of exp(x - largest).
inline Real sum_of_exp(std::size_t n, Real largest, const Real* x) {
  return sum_of(
      n, [&](auto d, std::size_t i, auto sum) HWY_ATTR { return hn::Add(sum, exp_of(d, above(d, x + i, largest))); });
}

/// x = exp(x - largest). Returns the sum.
inline Real exp_and_sum(std::size_t n, Real largest, Real* x) {
  return sum_of(n, [&](auto d, std::size_t i, auto sum) HWY_ATTR {
    const auto e = exp_of(d, above(d, x + i, largest));
    hn::StoreU(e, d, x + i);
    return hn::Add(sum, e);
  });
}

/// x = x + bias, for a block of a row.
inline BlockSum block_sum(std::size_t n, const Real* bias, Real* x) {
  const Real largest = add_bias(n, bias, x);
  // Where all are -infinity the sum is 0; relative to -infinity it would be NaN.
  const bool never = largest == -std::numeric_limits<Real>::infinity();
  return {largest, sum_of_exp(n, never ? Real{0} : largest, x)};
}

/// Of a row whose blocks, at least one, have these largest elements and sums.
inline LogSum log_sum(std::span<const Real> largest, std::span<const Real> sums) {
  thread_local std::vector<Real> factors;
  Real most = largest[0];
  for (const Real value : largest) most = value > most ? value : most;
  factors.assign(largest.begin(), largest.end());
  exp_and_sum(factors.size(), most, factors.data());
  double sum = 0;
  for (std::size_t b = 0; b < sums.size(); ++b) sum += static_cast<double>(sums[b]) * static_cast<double>(factors[b]);
  return {most, static_cast<Real>(portable::log(sum))};
}

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
