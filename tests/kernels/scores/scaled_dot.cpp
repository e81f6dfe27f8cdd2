#include <cmath>

#include "tests/support/scores.h"

namespace rnnsearch::reference {

const Score scaled("scaled-dot", [](const Parameters&, const Vector& s, const Vector& h) {
  return dot(s, h) / std::sqrt(static_cast<double>(s.size()));
});

}  // namespace rnnsearch::reference
