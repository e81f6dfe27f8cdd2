// Dropout (Srivastava et al. 2014): during training a share P of the units is set to 0, and the others are divided by 1
// - P, which preserves their expectation.
//
// No mask is stored. Whether a unit is dropped is a pure function (philox of base/portable.h) of the key of the mask,
// the sentence, the time step and the unit. It does not depend on threads or on the division of a batch into ranks,
// pieces and rows. The backward pass applies the same function to the gradient.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

/// The mask of R rows.
struct DropoutMask {
  double share = 0;       // P, at least 0 and below 1; if 0, nothing is dropped and the other fields are ignored
  std::uint64_t key = 0;  // derived from the seed, the update and the place in the network
  std::span<const std::uint64_t> sentences{};  // [R] number of the sentence
  std::span<const std::uint32_t> steps{};      // [R] time step; empty: all steps of a sentence have the same mask
  std::uint32_t shift = 0;                     // added to each step

  bool drops() const { return share > 0; }
  bool fits(const Matrix& x) const {
    return share < 1 && sentences.size() == x.rows && (steps.empty() || steps.size() == x.rows);
  }
  DropoutMask rows(std::size_t first, std::size_t count) const {
    if (!drops()) return {};
    return {share, key, sentences.subspan(first, count), steps.empty() ? steps : steps.subspan(first, count), shift};
  }
};

/// x [R, W] = x o mask / (1 - P). The mask of a row does not depend on the other rows, and that of a unit not on W.
void drop(const DropoutMask& mask, Matrix x);

/// Drops whole rows: row i of x is 0 where the mask drops its first unit, and divided by 1 - P elsewhere.
void drop_rows(const DropoutMask& mask, Matrix x);

}  // namespace rnnsearch::kernels
