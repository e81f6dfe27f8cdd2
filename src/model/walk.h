// A walk through the parameter block: the same walk lists the parameters and makes the views, so the two cannot
// disagree.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/model/parameters.h"

namespace rnnsearch::model {

template <class Real>
class Walk {
 public:
  /// An empty block: nothing is viewed, only listed.
  explicit Walk(std::span<Real> block) : block_(block) {}

  struct Part {
    std::string name;
    std::size_t size;
  };
  /// One matrix in memory, several parameters on disk, side by side. Parts of no columns are left out.
  MatrixView<Real> matrix(std::size_t rows, const std::vector<Part>& parts) { return grid("", {{"", rows}}, parts); }
  /// The same, and one above the other: parameter at + above + beside. Parts of no rows are left out.
  MatrixView<Real> grid(const std::string& at, const std::vector<Part>& above, const std::vector<Part>& beside) {
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
  /// What was taken so far.
  std::size_t size() const { return layout_.size; }
  /// What was taken so far is dense.
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
