#include "tests/support/scores.h"

namespace rnnsearch::reference {

const Score plain("dot", [](const Parameters&, const Vector& s, const Vector& h) { return dot(s, h); });

}  // namespace rnnsearch::reference
