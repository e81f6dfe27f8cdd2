// Initialisation of the weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rnnsearch/model/options.h"
#include "rnnsearch/model/parameters.h"

namespace rnnsearch::model {

/// Fills the block of parameters as options.initialization says:
/// - paper (GroundHog; Bahdanau, Cho and Bengio 2015, appendix B.1): square recurrent matrices U, U_z, ... are random
///   orthogonal; W_a and U_a are N(0, (deviation / 10)^2); v_a, v_p and all biases are 0; other matrices are N(0,
///   deviation^2).
/// - gaussian: biases are 0, all other parameters N(0, deviation^2).
/// - xavier (Glorot and Bengio 2010): biases are 0, all other parameters uniform within sqrt(6 / (rows + cols)).
/// - pytorch (torch.nn 2: reset_parameters of Linear, Embedding, RNN, GRU and LSTM): word vectors are N(0, 1); weights
///   and biases of a Linear are uniform within 1 / sqrt(inputs), where matrices whose products are added count as one
///   Linear over their concatenated inputs; those of recurrent cells other than mlp are uniform within 1 / sqrt(state).
///   Every parameter has its own random stream, so its values do not depend on the sizes of the others.
void initialise(const ParameterLayout& layout, const ModelOptions& options, std::uint64_t seed, std::span<Real> block);

/// Draws a matrix [n, n], row-major, uniformly from the orthogonal matrices.
std::vector<double> random_orthogonal(std::size_t n, std::uint64_t seed, std::uint64_t stream);

}  // namespace rnnsearch::model
