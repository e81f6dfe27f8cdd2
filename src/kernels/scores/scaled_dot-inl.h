// e_j = s . h_j / sqrt(n)
// A. Vaswani et al. (2017), equation 1.
struct ScaledDot {
  static constexpr Score kScore{.name = "scaled-dot", .scaled = true};
  using Form = Product;
};
RNNSEARCH_SCORE(ScaledDot)
