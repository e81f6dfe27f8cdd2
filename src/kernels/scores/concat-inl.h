// e_j = v_a . tanh([s; h_j] W_a)
// M.-T. Luong, H. Pham, C. D. Manning (2015), section 3.1.
struct Concat {
  static constexpr Score kScore{
      .name = "concat", .projects_query = true, .projects_keys = true, .joint = true, .has_v = true};
  using Form = TanhOfSum;
};
RNNSEARCH_SCORE(Concat)
