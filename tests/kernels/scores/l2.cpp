#include <cmath>

#include "tests/support/scores.h"

namespace rnnsearch::reference {

const Score l2("l2", [](const Parameters& p, const Vector& s, const Vector& h) {
  const Vector q = product(s, p.at("attention/W_a")), k = product(h, p.at("attention/U_a"));
  double square = 0;
  for (std::size_t a = 0; a < q.size(); ++a) square += (q[a] - k[a]) * (q[a] - k[a]);
  return -square / std::sqrt(static_cast<double>(q.size()));
});

}  // namespace rnnsearch::reference
