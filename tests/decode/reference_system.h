// A model's parameters as the slow reference of tests/support takes them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rnnsearch/decode/translate.h"
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

/// Words, ends and log-probabilities are those of the reference.
inline void expect_same(const std::vector<Translation>& found, const std::vector<reference::Hypothesis>& expected,
                        const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t k = 0; k < found.size(); ++k) {
    ASSERT_EQ(found[k].words, expected[k].words) << what << ", translation " << k;
    EXPECT_EQ(found[k].finished, expected[k].finished) << what << ", translation " << k;
    EXPECT_NEAR(found[k].log_probability, expected[k].log_probability, 1e-4) << what << ", translation " << k;
  }
}

}  // namespace rnnsearch::decode
