// e_j = v_a . max(s W_a + h_j U_a + b_a, 0): a perceptron with one hidden layer, over [s; h_j].
struct Mlp {
  static constexpr Score kScore{
      .name = "mlp", .projects_query = true, .projects_keys = true, .has_bias = true, .has_v = true};
  struct Form {
    template <class D, class V>
    static HWY_INLINE V value(D d, V q, V k) {
      const V sum = hn::Add(q, k);
      return hn::IfThenElse(hn::Lt(sum, hn::Zero(d)), hn::Zero(d), sum);  // NaN stays NaN
    }
    template <class D, class V>
    static HWY_INLINE void derivatives(D d, V, V, V phi, V& by_q, V& by_k) {
      by_q = by_k = hn::IfThenElse(hn::Gt(phi, hn::Zero(d)), hn::Set(d, hn::TFromD<D>{1}), hn::Zero(d));
    }
  };
};
RNNSEARCH_SCORE(Mlp)
