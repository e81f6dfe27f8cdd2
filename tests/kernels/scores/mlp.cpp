#include <algorithm>

#include "tests/support/scores.h"

namespace rnnsearch::reference {

const Score mlp("mlp", [](const Parameters& p, const Vector& s, const Vector& h) {
  const Vector q = product(s, p.at("attention/W_a")), k = product(h, p.at("attention/U_a"));
  const Vector& b = p.at("attention/b_a").values;
  return sum(p.at("attention/v_a").values, [&](std::size_t a) { return std::max(q[a] + k[a] + b[a], 0.0); });
});

}  // namespace rnnsearch::reference
