// e_j = s W_a . h_j
// M.-T. Luong, H. Pham, C. D. Manning (2015), section 3.1.
struct General {
  static constexpr Score kScore{.name = "general", .projects_query = true};
  using Form = Product;
};
RNNSEARCH_SCORE(General)
