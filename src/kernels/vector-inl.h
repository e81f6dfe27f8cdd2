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
#include <utility>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/kernels/precision.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Elements of a whole vector. CMakeLists.txt excludes targets whose vectors have no size at compile time.
constexpr std::size_t kVectorElements = hn::MaxLanes(hn::ScalableTag<Real>());

/// Calls body(d, i) for elements i to n - 1: for whole vectors, and for the elements that are left by vectors of half
/// the size, a quarter, and so on. Nothing past n is touched. 12 elements that are left take 2 steps, not 12.
template <std::size_t elements = kVectorElements, class Body>
HWY_INLINE void for_each(std::size_t n, const Body& body, std::size_t i = 0) {
  const hn::CappedTag<Real, elements> d;
  const std::size_t lanes = hn::Lanes(d);
  for (; i + lanes <= n; i += lanes) body(d, i);
  if constexpr (elements > 1) for_each<elements / 2>(n, body, i);
}

/// Neighbouring elements of a row, from column i on: what a kernel computes at once. n: the width of column blocks.
template <class D>
struct Place {
  D d;
  std::size_t row, i, n;

  HWY_INLINE auto load(const ConstMatrix& from, std::size_t block = 0) const {
    return hn::LoadU(d, from.data + row * from.stride + (block * n + i));
  }
  template <class V>
  HWY_INLINE void store(V value, const Matrix& to, std::size_t block = 0) const {
    hn::StoreU(value, d, to.data + row * to.stride + (block * n + i));
  }
  HWY_INLINE auto one() const { return hn::Set(d, Real{1}); }
  /// The slope of sigma where it has this value.
  template <class V>
  HWY_INLINE auto slope(V sigma) const {
    return hn::Mul(sigma, hn::Sub(one(), sigma));
  }
};

/// Calls body(place) for all elements of rows [first, last) of matrices with column blocks of n.
template <class Body>
HWY_INLINE void for_rows(std::size_t first, std::size_t last, std::size_t n, const Body& body) {
  for (std::size_t row = first; row < last; ++row) {
    for_each(n, [&](auto d, std::size_t i) HWY_ATTR { body(Place<decltype(d)>{d, row, i, n}); });
  }
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

/// e^x. float: x = q log(2) + r, and e^r = 1 + r + r^2 p(r), with the coefficients of the Cephes library (Moshier), so
/// that this function does not change with the version of Highway. Its own exp turns a NaN into 0 and so hides it.
template <class D, class V>
HWY_INLINE V exp_of(D d, V x) {
  if constexpr (std::is_same_v<hn::TFromD<D>, double>) {
    return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, x));
  } else {
    const auto set = [d](float value) HWY_ATTR { return hn::Set(d, value); };
    const hn::RebindToSigned<D> integers;
    // Min and Max are not used, because without vectors they replace a NaN by the bound and so hide it.
    const V most = set(89), least = set(-104);
    const V bounded = hn::IfThenElse(hn::Gt(x, most), most, hn::IfThenElse(hn::Lt(x, least), least, x));
    // Adding 1.5 * 2^23 rounds to an integer.
    const V large = set(0x1.8p23F), q = hn::Sub(hn::MulAdd(bounded, set(1.44269504F), large), large);
    V r = hn::NegMulAdd(q, set(0x1.62e4p-1F), bounded);
    r = hn::NegMulAdd(q, set(0x1.7f7d1cp-20F), r);
    V p = hn::MulAdd(r, set(1.9875691500e-4F), set(1.3981999507e-3F));
    p = hn::MulAdd(r, p, set(8.3334519073e-3F));
    p = hn::MulAdd(r, p, set(4.1665795894e-2F));
    p = hn::MulAdd(r, p, set(1.6666665459e-1F));
    p = hn::MulAdd(r, p, set(5.0000001201e-1F));
    p = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), set(1));
    // Two factors, because 2^q itself may be too large or too small for a float.
    const auto exponent = hn::ConvertTo(integers, q), half = hn::ShiftRight<1>(exponent);
    const auto power = [&](auto e)
                           HWY_ATTR { return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(e, hn::Set(integers, 127)))); };
    return hn::Mul(hn::Mul(p, power(half)), power(hn::Sub(exponent, half)));
  }
}

/// log(1 + x) for 0 <= x <= 1, by 2 artanh(s) = 2 (s + s^3 / 3 + s^5 / 5 + ...) with s = x / (2 + x) <= 1/3.
template <class D, class V>
HWY_INLINE V log1p_of(D d, V x) {
  const auto set = [d](double value) HWY_ATTR { return hn::Set(d, static_cast<hn::TFromD<D>>(value)); };
  const V s = hn::Div(x, hn::Add(set(2), x)), s2 = hn::Mul(s, s);
  constexpr int kLast = sizeof(hn::TFromD<D>) == sizeof(float) ? 15 : 33;
  V p = set(2.0 / kLast);
  for (int k = kLast - 2; k >= 3; k -= 2) p = hn::MulAdd(s2, p, set(2.0 / k));
  // x - s x = 2 s
  return hn::MulAdd(hn::Mul(s, s2), p, hn::NegMulAdd(s, x, x));
}

/// Adds terms [i, end) of as many as are whole groups of lanes, and returns where it ended.
template <std::size_t... V, class Term, class... Sums>
HWY_INLINE std::size_t add_groups(std::index_sequence<V...>, std::size_t i, std::size_t end, const Term& term,
                                  Real* HWY_RESTRICT lanes, Sums... sums) {
  const hn::ScalableTag<Real> d;
  constexpr std::size_t kGroup = sizeof...(V) * kVectorElements;
  for (; i + kGroup <= end; i += kGroup) ((sums = term(d, i + V * kVectorElements, sums)), ...);
  (hn::StoreU(sums, d, lanes + V * kVectorElements), ...);
  return i;
}
template <std::size_t... V, class Term>
HWY_INLINE std::size_t add_groups(std::index_sequence<V...> all, std::size_t i, std::size_t end, const Term& term,
                                  Real* HWY_RESTRICT lanes) {
  const hn::ScalableTag<Real> d;
  return add_groups(all, i, end, term, lanes, (static_cast<void>(V), hn::Zero(d))...);
}

/// The sum of 2 * half lanes by a tree: the upper half is added to the lower half, until one lane is left. Overwrites
/// them.
template <std::size_t half>
HWY_INLINE Real sum_of_lanes(Real* HWY_RESTRICT lanes) {
  const hn::CappedTag<Real, half> d;
  for (std::size_t i = 0; i < half; i += hn::Lanes(d))
    hn::StoreU(hn::Add(hn::LoadU(d, lanes + i), hn::LoadU(d, lanes + half + i)), d, lanes + i);
  if constexpr (half == 1)
    return lanes[0];
  else
    return sum_of_lanes<half / 2>(lanes);
}

/// The sum of n terms: term(d, i, sum) returns sum + the terms from i on, a vector of them. Every sum across the lanes
/// of vectors is made by this function, so that its bits are the same for vectors of any width: term i is added to lane
/// i mod 32, in the order of i, and the lanes are added in the order of one tree. A lane adds at most kTermsOfLane
/// terms before its sum is put aside, which keeps the digits of sums over a vocabulary.
template <class Term>
HWY_INLINE Real sum_of(std::size_t n, const Term& term) {
  constexpr std::size_t kTermsOfLane = 4096, kSumLanes = 32;
  constexpr std::size_t kVectors = kSumLanes / kVectorElements;
  static_assert(kVectors * kVectorElements == kSumLanes);
  alignas(64) Real lanes[kSumLanes];
  Real total = 0;
  for (std::size_t i = 0; i < n;) {
    const std::size_t end = std::min(n, i + kTermsOfLane * kSumLanes);
    i = add_groups(std::make_index_sequence<kVectors>(), i, end, term, lanes);
    for_each(end - i, [&](auto d, std::size_t lane)
                          HWY_ATTR { hn::StoreU(term(d, i + lane, hn::LoadU(d, lanes + lane)), d, lanes + lane); });
    i = end;
    total += sum_of_lanes<kSumLanes / 2>(lanes);
  }
  return total;
}

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
