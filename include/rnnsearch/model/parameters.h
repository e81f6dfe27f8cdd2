// The parameter layout: all weights of a model are in one contiguous block, and this lists their names, shapes and
// offsets.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::model {

/// One weight with its name in a checkpoint, such as "decoder/W_z" [m, n]. A matrix is multiplied by a row vector from
/// the left. In memory it is a block of columns of a wider matrix (W, W_z and W_r share their input, so they form one
/// product): element (i, j) is block[offset + i * stride + j].
struct Parameter {
  std::string name;
  std::vector<std::size_t> shape;  // one or two dimensions
  std::size_t offset = 0;
  std::size_t stride = 0;

  std::size_t rows() const { return shape.size() == 2 ? shape[0] : 1; }
  std::size_t cols() const { return shape.back(); }
  std::size_t count() const { return rows() * cols(); }
};

struct ParameterLayout {
  std::vector<Parameter> parameters;
  std::size_t size = 0;  // elements of the block; every element belongs to exactly one parameter
  /// Number of elements before the embedding tables that have a sparse gradient, which come last. The gradient of [0,
  /// dense) is a block like that of the parameters; the gradient of the tables is stored by rows.
  std::size_t dense = 0;

  /// Throws Error if there is no parameter of this name.
  const Parameter& find(const std::string& name) const;
};

/// A part of a model's gradient that becomes final at once while a batch is computed: elements [first, first + size) of
/// Model::gradient, or a table.
struct GradientPart {
  std::size_t first = 0, size = 0;
  int table = -1;  // index in Model::table_gradients, or negative
};

/// Copies row-major `dense` [parameter.count()] to one parameter of a block with the size of the layout.
void copy_in(const Parameter& parameter, std::span<const Real> dense, std::span<Real> block);

}  // namespace rnnsearch::model
