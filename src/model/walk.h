// A walk through the parameter block. The same walk lists the parameters and creates the views, so these always agree.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/model/parameters.h"

namespace rnnsearch::model {

class Walk {
 public:
  /// With an empty block the parameters are only listed.
  explicit Walk(std::span<Real> block) : block_(block) {}

  struct Part {
    std::string name;
    std::size_t size;
  };
  /// A matrix in memory whose column blocks are separate parameters in a checkpoint. Parts without columns are left
  /// out.
  Matrix matrix(std::size_t rows, const std::vector<Part>& parts) { return grid("", {{"", rows}}, parts); }
  /// The same with row blocks too; the parameters are named at + above + beside. Parts without rows are left out.
  Matrix grid(const std::string& at, const std::vector<Part>& above, const std::vector<Part>& beside) {
    std::size_t rows = 0, cols = 0;
    for (const auto& part : beside) cols += part.size;
    for (const auto& letter : above) {
      std::size_t column = 0;
      for (const auto& part : beside) {
        if (letter.size > 0 && part.size > 0) {
          layout_.parameters.push_back(
              {at + letter.name + part.name, {letter.size, part.size}, layout_.size + rows * cols + column, cols});
        }
        column += part.size;
      }
      rows += letter.size;
    }
    return {take(rows * cols), rows, cols};
  }
  std::span<Real> vector(const std::vector<Part>& parts) {
    const std::size_t start = layout_.size;
    std::size_t size = 0;
    for (const auto& part : parts) {
      layout_.parameters.push_back({part.name, {part.size}, start + size, part.size});
      size += part.size;
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
