// Divides the parameter block. The same calls list the parameters and create the views, so these always agree.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/model/parameters.h"

namespace rnnsearch::model {

class LayoutBuilder {
 public:
  /// With an empty block the parameters are only listed.
  explicit LayoutBuilder(std::span<Real> block) : block_(block) {}

  struct Block {
    std::string name;
    std::size_t size;
  };
  /// A matrix in memory whose column blocks are separate parameters in a checkpoint. Blocks without columns are left
  /// out.
  Matrix add_columns(std::size_t rows, const std::vector<Block>& columns) {
    return add_blocks("", {{"", rows}}, columns);
  }
  /// The same with row blocks too; the parameters are named prefix + row block + column block. Blocks
  /// without rows are left out.
  Matrix add_blocks(const std::string& prefix, const std::vector<Block>& row_blocks,
                    const std::vector<Block>& column_blocks) {
    std::size_t rows = 0, cols = 0;
    for (const auto& column_block : column_blocks) cols += column_block.size;
    for (const auto& row_block : row_blocks) {
      std::size_t column = 0;
      for (const auto& column_block : column_blocks) {
        if (row_block.size > 0 && column_block.size > 0) {
          layout_.parameters.push_back({prefix + row_block.name + column_block.name,
                                        {row_block.size, column_block.size},
                                        layout_.size + rows * cols + column,
                                        cols});
        }
        column += column_block.size;
      }
      rows += row_block.size;
    }
    return {take(rows * cols), rows, cols};
  }
  std::span<Real> add_vector(const std::vector<Block>& blocks) {
    const std::size_t start = layout_.size;
    std::size_t size = 0;
    for (const auto& block : blocks) {
      layout_.parameters.push_back({block.name, {block.size}, start + size, block.size});
      size += block.size;
    }
    return {take(size), size};
  }
  /// The number of elements so far.
  std::size_t size() const { return layout_.size; }
  /// Marks the end of the dense part of the layout.
  void end_of_dense() { layout_.dense = layout_.size; }
  ParameterLayout layout() && { return std::move(layout_); }

 private:
  Real* take(std::size_t count) {
    Real* here = layout_.size + count > block_.size() ? nullptr : block_.data() + layout_.size;
    layout_.size += count;
    return here;
  }

  std::span<Real> block_;
  ParameterLayout layout_;
};

}  // namespace rnnsearch::model
