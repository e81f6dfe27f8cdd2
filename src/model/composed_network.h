// Every system of the options, out of small layers.
//
// A decoder step has one of two orders. Where the readout reads s_{i-1} (Bahdanau, Cho and Bengio 2015): attend, read
// out y_i, then update the state. Where it reads s_i: update the state, attend before or after, read out y_i; there the
// readout's vector can be an input of the next step.
//
// While a gradient is computed, dropout.h says what is dropped, and where.
#pragma once

#include <memory>

#include "model/network.h"

namespace rnnsearch::model {

template <class Real>
std::unique_ptr<Network<Real>> make_composed_network(const ModelOptions& options);

}  // namespace rnnsearch::model
