#include <cmath>

#include "tests/support/scores.h"

namespace rnnsearch::reference {

const Score additive("additive", [](const Parameters& p, const Vector& s, const Vector& h) {
  const Vector q = product(s, p.at("attention/W_a")), k = product(h, p.at("attention/U_a"));
  return sum(p.at("attention/v_a").values, [&](std::size_t a) { return std::tanh(q[a] + k[a]); });
});

}  // namespace rnnsearch::reference
