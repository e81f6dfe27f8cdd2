// A model's parameters as the slow reference of tests/support takes them.
#pragma once

#include "rnnsearch/model/model.h"
#include "tests/support/reference_search.h"

namespace rnnsearch::decode {

inline reference::System system_of(const model::Model& model, double weight = 1) {
  reference::System system{{}, reference::StateReads::kCurrentWord, weight};
  for (const model::Parameter& parameter : model.layout().parameters) {
    reference::Matrix& matrix = system.parameters[parameter.name];
    matrix.rows = parameter.rows();
    matrix.cols = parameter.cols();
    for (std::size_t i = 0; i < matrix.rows; ++i) {
      const float* const row = model.parameters().data() + parameter.offset + i * parameter.stride;
      matrix.values.insert(matrix.values.end(), row, row + matrix.cols);
    }
  }
  return system;
}

}  // namespace rnnsearch::decode
