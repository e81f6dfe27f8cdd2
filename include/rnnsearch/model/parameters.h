// All weights of a model live in one contiguous block; names, shapes and places are listed here.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace rnnsearch::model {

/// One weight as formats of the checkpoint name it: "decoder/W_z" [m, n]. A matrix multiplies a row vector from the
/// left. In memory it is a block of columns of a wider matrix (W, W_z, W_r share their input, so they are one product):
/// element (i, j) is block[offset + i * stride + j].
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
  /// Elements before the embedding tables that are nothing else besides, which come last: the gradient of [0, dense) is
  /// a block like the parameters', that of the tables is kept by rows.
  std::size_t dense = 0;

  /// Throws Error when there is none of this name.
  const Parameter& find(const std::string& name) const;
};

/// Row-major copy of one parameter out of a block with the layout's size, and back. `dense` has parameter.count()
/// elements.
template <class Element>
void copy_out(const Parameter& parameter, std::span<const Element> block, std::span<Element> dense);
template <class Element>
void copy_in(const Parameter& parameter, std::span<const Element> dense, std::span<Element> block);

}  // namespace rnnsearch::model
