// e_j = s . h_j
// M.-T. Luong, H. Pham, C. D. Manning (2015), section 3.1.
struct Dot {
  static constexpr Score kScore{.name = "dot"};
  using Form = Product;
};
RNNSEARCH_SCORE(Dot)
