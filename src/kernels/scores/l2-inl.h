// e_j = -||s W_a - h_j U_a||^2 / sqrt(A)
// H. Kim, G. Papamakarios, A. Mnih (2021), The Lipschitz Constant of Self-Attention, section 3.2. No score is above 0,
// so a long vector cannot outweigh a near one.
struct L2 {
  static constexpr Score kScore{.name = "l2", .projects_query = true, .projects_keys = true, .scaled = true};
  struct Form {  // -(q - k)^2
    template <class D, class V>
    static HWY_INLINE V value(D, V q, V k) {
      const V difference = hn::Sub(q, k);
      return hn::Neg(hn::Mul(difference, difference));
    }
    template <class D, class V>
    static HWY_INLINE void derivatives(D d, V q, V k, V, V& by_q, V& by_k) {
      by_k = hn::Mul(hn::Set(d, hn::TFromD<D>{2}), hn::Sub(q, k));
      by_q = hn::Neg(by_k);
    }
  };
};
RNNSEARCH_SCORE(L2)
