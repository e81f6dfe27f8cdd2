// The decoder of RNNsearch and RNNencdec (Bahdanau, Cho and Bengio 2015, appendix A): matrices that share an input form
// one product, the elementwise operations of the gated unit are one pass over memory, and in bfloat16 the attention
// reads rounded annotations and keys.
#pragma once

#include <memory>

#include "model/decoder.h"

namespace rnnsearch::model {

/// REQUIRES: is_fused(options), and weights in the order of DecoderKind::kGated.
template <class Real>
std::unique_ptr<Decoder<Real>> make_gated_decoder(const DecoderParts<Real>& parts);

}  // namespace rnnsearch::model
