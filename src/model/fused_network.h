// A fast implementation of RNNsearch and RNNencdec (Bahdanau, Cho and Bengio 2015, appendix A): matrices that share an
// input form one product, and elementwise operations are fused into one pass over memory.
#pragma once

#include <memory>

#include "model/network.h"

namespace rnnsearch::model {

template <class Real>
std::unique_ptr<Network<Real>> make_fused_network(const ModelOptions& options);

}  // namespace rnnsearch::model
