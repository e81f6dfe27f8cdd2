// A model's gradient as one block like its parameters, with all rows of the embedding tables, including zeros.
#pragma once

#include "rnnsearch/model/model.h"
#include "tests/support/test.h"

namespace rnnsearch {

inline std::vector<Real> whole_gradient(model::Model& model) {
  std::vector<Real> whole(model.gradient().begin(), model.gradient().end());
  whole.resize(model.layout().size);
  for (const auto& table : model.table_gradients()) {
    const auto rows = table.rows.rows();
    for (std::size_t i = 0; i < rows.rows; ++i)
      std::copy_n(rows.row(i), rows.cols, whole.data() + table.offset + table.rows.words()[i] * rows.cols);
  }
  return whole;
}

}  // namespace rnnsearch
