// Dropout (Srivastava et al. 2014): during training a share P of the units is 0, and the others are divided by 1 - P,
// so that their expectation stays.
//
// No mask is stored. Whether a unit is dropped is a pure function of the mask's key, the sentence, the time step and
// the unit (philox of base/random.h): not of threads, nor of how a batch is cut into ranks, pieces and rows. The
// backward pass is the forward pass, of the gradient.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

/// Of R rows.
struct DropoutMask {
  double share = 0;       // P, at least 0 and below 1; 0: nothing is dropped, and the rest does not matter
  std::uint64_t key = 0;  // of the seed, the update and the place in the network
  std::span<const std::uint64_t> sentences{};  // [R]
  std::span<const std::uint32_t> steps{};      // [R]; empty: a sentence has one mask for all its steps
  std::uint32_t shift = 0;                     // is added to each step

  bool drops() const { return share > 0; }
  DropoutMask rows(std::size_t first, std::size_t count) const {
    if (!drops()) return {};
    return {share, key, sentences.subspan(first, count), steps.empty() ? steps : steps.subspan(first, count), shift};
  }
};

/// x [R, W] = x o mask / (1 - P). The bits of a row do not depend on the others, and those of a unit not on W.
template <class Real>
void drop(const DropoutMask& mask, MatrixView<Real> x);

}  // namespace rnnsearch::kernels
