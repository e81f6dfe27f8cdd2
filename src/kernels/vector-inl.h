// Vector functions for the kernels, compiled for every instruction set (Highway's foreach_target includes this file
// once for each). float uses the rational functions below; double, for gradient checks, uses Highway's own.
#if defined(RNNSEARCH_KERNELS_VECTOR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RNNSEARCH_KERNELS_VECTOR_INL_H
#undef RNNSEARCH_KERNELS_VECTOR_INL_H
#else
#define RNNSEARCH_KERNELS_VECTOR_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/kernels/bfloat16.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Calls body(d, i) for whole vectors and then for single elements; nothing past n is touched.
template <class Body>
HWY_INLINE void for_each(std::size_t n, const Body& body) {
  const hn::ScalableTag<Real> whole;
  const hn::CappedTag<Real, 1> single;
  const std::size_t lanes = hn::Lanes(whole);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) body(whole, i);
  for (; i < n; ++i) body(single, i);
}

/// tanh. float: an odd polynomial of degree 13 divided by an even one of degree 6, with the argument clamped where tanh
/// is within 7 units in the last place of 1 (the minimax coefficients of Eigen's and XNNPACK's vector tanh).
template <class D, class V>
HWY_INLINE V tanh_of(D d, V x) {
  if constexpr (std::is_same_v<hn::TFromD<D>, double>) {
    return hn::Tanh(d, x);
  } else {
    const auto set = [d](float value) HWY_ATTR { return hn::Set(d, value); };
    // Min and Max are not used, because they may replace a NaN by the bound and so hide it.
    const V most = set(7.90531110763549805f), least = set(-7.90531110763549805f);
    x = hn::IfThenElse(hn::Gt(x, most), most, hn::IfThenElse(hn::Lt(x, least), least, x));
    const V x2 = hn::Mul(x, x);
    V p = hn::MulAdd(x2, set(-2.76076847742355e-16f), set(2.00018790482477e-13f));
    p = hn::MulAdd(x2, p, set(-8.60467152213735e-11f));
    p = hn::MulAdd(x2, p, set(5.12229709037114e-08f));
    p = hn::MulAdd(x2, p, set(1.48572235717979e-05f));
    p = hn::MulAdd(x2, p, set(6.37261928875436e-04f));
    p = hn::MulAdd(x2, p, set(4.89352455891786e-03f));
    V q = hn::MulAdd(x2, set(1.19825839466702e-06f), set(1.18534705686654e-04f));
    q = hn::MulAdd(x2, q, set(2.26843463243900e-03f));
    q = hn::MulAdd(x2, q, set(4.89352518554385e-03f));
    return hn::Div(hn::Mul(x, p), q);
  }
}

/// 1 / (1 + exp(-x)) = (1 + tanh(x / 2)) / 2
template <class D, class V>
HWY_INLINE V sigmoid_of(D d, V x) {
  using T = hn::TFromD<D>;
  const V half = hn::Set(d, T{0.5});
  return hn::MulAdd(half, tanh_of(d, hn::Mul(half, x)), half);
}

/// LoadU, also of bfloat16 into vectors of float.
template <class D, class T>
HWY_INLINE auto load(D d, const T* from) {
  return hn::LoadU(d, from);
}
#ifndef RNNSEARCH_DOUBLE
template <class D>
HWY_INLINE auto load(D d, const BFloat16* from) {
  const hn::RebindToUnsigned<D> whole;
  const hn::Rebind<std::uint16_t, D> half;
  const auto upper = hn::PromoteTo(whole, hn::LoadU(half, reinterpret_cast<const std::uint16_t*>(from)));
  return hn::BitCast(d, hn::ShiftLeft<16>(upper));
}
#endif

/// exp. Highway's own exp turns a NaN into 0 and so hides it.
template <class D, class V>
HWY_INLINE V exp_of(D d, V x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, x));
}

/// The sum of term(d, i) over i < n, where term returns a vector. Each vector lane has its own sum, so the bits depend
/// on the instruction set, but on nothing else. A lane adds at most kTermsOfLane terms before its sum is put aside:
/// vectors of one lane would otherwise lose digits in the sum over a vocabulary.
template <class Term>
HWY_INLINE Real sum_of(std::size_t n, const Term& term) {
  constexpr std::size_t kTermsOfLane = 4096;
  const hn::ScalableTag<Real> whole;
  const hn::CappedTag<Real, 1> single;
  const std::size_t lanes = hn::Lanes(whole);
  Real total = 0;
  for (std::size_t i = 0; i < n;) {
    const std::size_t end = std::min(n, i + kTermsOfLane * lanes);
    auto even = hn::Zero(whole), odd = hn::Zero(whole);
    for (; i + 2 * lanes <= end; i += 2 * lanes) {
      even = hn::Add(even, term(whole, i));
      odd = hn::Add(odd, term(whole, i + lanes));
    }
    for (; i + lanes <= end; i += lanes) even = hn::Add(even, term(whole, i));
    Real sum = hn::GetLane(hn::SumOfLanes(whole, hn::Add(even, odd)));
    for (; i < end; ++i) sum += hn::GetLane(term(single, i));
    total += sum;
  }
  return total;
}

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
