// RNNsearch and RNNencdec (Bahdanau, Cho and Bengio 2015, appendix A) as fast as they can be: whatever shares an input
// is one product, and elementwise work one pass over memory.
#pragma once

#include <memory>

#include "model/network.h"

namespace rnnsearch::model {

template <class Real>
std::unique_ptr<Network<Real>> make_fused_network(const ModelOptions& options);

}  // namespace rnnsearch::model
