// Weights to begin a training with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rnnsearch/model/options.h"
#include "rnnsearch/model/parameters.h"

namespace rnnsearch::model {

/// paper (GroundHog; recipe of Bahdanau, Cho and Bengio 2015, appendix B.1): square recurrent matrices U, U_z, ...:
/// random orthogonal; W_a, U_a: N(0, (deviation / 10)^2); v_a, v_p and all biases 0; other matrices N(0, deviation^2).
/// gaussian: biases 0, all else N(0, deviation^2). xavier (Glorot and Bengio 2010): biases 0, all else uniform within
/// sqrt(6 / (rows + cols)). pytorch (torch.nn 2: reset_parameters of Linear, Embedding, RNN, GRU and LSTM): word
/// vectors N(0, 1); weights and biases of a Linear uniform within 1 / sqrt(inputs), the inputs of matrices whose
/// products are added being those of one Linear over their concatenation; those of recurrent cells but mlp uniform
/// within 1 / sqrt(state). Every parameter draws from a stream of its own, so its values do not depend on the others'
/// sizes.
template <class Real>
void initialise(const ParameterLayout& layout, const ModelOptions& options, std::uint64_t seed, std::span<Real> block);

/// [n, n] uniformly distributed over the orthogonal matrices, row-major.
std::vector<double> random_orthogonal(std::size_t n, std::uint64_t seed, std::uint64_t stream);

}  // namespace rnnsearch::model
