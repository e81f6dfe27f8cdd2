#include "rnnsearch/model/parameters.h"

#include <algorithm>
#include <cassert>

#include "rnnsearch/base/error.h"

namespace rnnsearch::model {

const Parameter& ParameterLayout::find(const std::string& name) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == name; });
  if (found == parameters.end()) throw Error("model: there is no parameter {}", name);
  return *found;
}

void copy_in(const Parameter& parameter, std::span<const Real> dense, std::span<Real> block) {
  assert(dense.size() == parameter.count());
  for (std::size_t i = 0; i < parameter.rows(); ++i) {
    std::copy_n(dense.data() + i * parameter.cols(), parameter.cols(),
                block.data() + parameter.offset + i * parameter.stride);
  }
}

}  // namespace rnnsearch::model
