// Forms phi(q, k) that several score files share, and their derivatives with respect to q and k, given phi. d: a vector
// tag of Highway. V: a vector of q_a or k_ja for several a. scores.cpp includes these files for each instruction set,
// inside its namespace.

struct TanhOfSum {  // tanh(q + k)
  template <class D, class V>
  static HWY_INLINE V value(D d, V q, V k) {
    return tanh_of(d, hn::Add(q, k));
  }
  template <class D, class V>
  static HWY_INLINE void derivatives(D d, V, V, V phi, V& by_q, V& by_k) {
    by_q = by_k = hn::NegMulAdd(phi, phi, hn::Set(d, hn::TFromD<D>{1}));
  }
};

struct Product {  // q k
  template <class D, class V>
  static HWY_INLINE V value(D, V q, V k) {
    return hn::Mul(q, k);
  }
  template <class D, class V>
  static HWY_INLINE void derivatives(D, V q, V k, V, V& by_q, V& by_k) {
    by_q = k;
    by_k = q;
  }
};
