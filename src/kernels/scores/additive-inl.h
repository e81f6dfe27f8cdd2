// e_j = v_a . tanh(s W_a + h_j U_a)
// D. Bahdanau, K. Cho, Y. Bengio (2015), appendix A.1.2.
struct Additive {
  static constexpr Score kScore{.name = "additive", .projects_query = true, .projects_keys = true, .has_v = true};
  using Form = TanhOfSum;
};
RNNSEARCH_SCORE(Additive)
