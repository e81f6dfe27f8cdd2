// Recurrent cells with layer normalisation; see layers/cell.h.
#pragma once

#include <memory>

#include "rnnsearch/layers/cell.h"

namespace rnnsearch::layers {

/// REQUIRES: `kind` is a normalised kind.
template <class Real>
std::unique_ptr<Cell<Real>> make_normalised_cell(CellKind kind, const CellWeights<Real>& weights,
                                                 const CellWeights<Real>& gradient);

}  // namespace rnnsearch::layers
