#include "tests/support/scores.h"

namespace rnnsearch::reference {

const Score general("general", [](const Parameters& p, const Vector& s, const Vector& h) {
  return dot(product(s, p.at("attention/W_a")), h);
});

}  // namespace rnnsearch::reference
