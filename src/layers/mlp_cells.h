// Recurrent cells that are perceptrons with a hidden layer; see layers/cell.h.
#pragma once

#include <memory>

#include "rnnsearch/layers/cell.h"

namespace rnnsearch::layers {

/// REQUIRES: `kind` is kMlp or kMlpEncoder.
template <class Real>
std::unique_ptr<Cell<Real>> make_mlp_cell(CellKind kind, const CellWeights<Real>& weights,
                                          const CellWeights<Real>& gradient);

}  // namespace rnnsearch::layers
