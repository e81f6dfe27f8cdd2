// Recurrent cells that are perceptrons with a hidden layer; see layers/cell.h.
#pragma once

#include <memory>

#include "rnnsearch/layers/cell.h"

namespace rnnsearch::layers {

/// REQUIRES: `kind` is kMlp or kMlpEncoder.
std::unique_ptr<Cell> make_mlp_cell(CellKind kind, const CellWeights& weights, const CellWeights& gradient);

}  // namespace rnnsearch::layers
