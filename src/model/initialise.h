// The released code's initialisation (GroundHog; recipe of Bahdanau, Cho and Bengio 2015, appendix B.1).
#pragma once

#include <cstdint>
#include <span>

#include "rnnsearch/model/parameters.h"

namespace rnnsearch::model {

/// Recurrent matrices U, U_z, U_r: random orthogonal; W_a, U_a: N(0, (deviation / 10)^2); v_a and all biases 0; other
/// matrices N(0, deviation^2). Every parameter draws from a stream of its own, so its values do not depend on the
/// others' sizes.
template <class Real>
void initialise(const ParameterLayout& layout, std::uint64_t seed, double deviation, std::span<Real> block);

/// [n, n] uniformly distributed over the orthogonal matrices, row-major.
std::vector<double> random_orthogonal(std::size_t n, std::uint64_t seed, std::uint64_t stream);

}  // namespace rnnsearch::model
