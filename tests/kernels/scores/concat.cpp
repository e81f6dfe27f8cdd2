#include <cmath>

#include "tests/support/scores.h"

namespace rnnsearch::reference {

const Score concat("concat", [](const Parameters& p, const Vector& s, const Vector& h) {
  Vector both = s;
  both.insert(both.end(), h.begin(), h.end());
  const Vector hidden = product(both, p.at("attention/W_a"));
  return sum(p.at("attention/v_a").values, [&](std::size_t a) { return std::tanh(hidden[a]); });
});

}  // namespace rnnsearch::reference
