// A decoder for every system that the options can describe, composed of small layers.
//
// A step has one of two orders. If the readout reads s_{i-1} (Bahdanau, Cho and Bengio 2015): attend, read out y_i,
// then update the state. If it reads s_i: update the state, attend before or after that, and read out y_i; the vector
// of the readout can then be an input of the next step.
//
// dropout.h documents which units are dropped while a gradient is computed.
#pragma once

#include <memory>

#include "model/decoder.h"

namespace rnnsearch::model {

template <class Real>
std::unique_ptr<Decoder<Real>> make_composed_decoder(const DecoderParts<Real>& parts);

}  // namespace rnnsearch::model
