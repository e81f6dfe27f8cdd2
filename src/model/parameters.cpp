#include "rnnsearch/model/parameters.h"

#include <algorithm>
#include <cassert>

#include "rnnsearch/base/error.h"

namespace rnnsearch::model {

const Parameter& ParameterLayout::find(const std::string& name) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == name; });
  if (found == parameters.end()) throw Error(text_of("model: there is no parameter ", name));
  return *found;
}

template <class Element>
void copy_out(const Parameter& parameter, std::span<const Element> block, std::span<Element> dense) {
  assert(dense.size() == parameter.count());
  for (std::size_t i = 0; i < parameter.rows(); ++i) {
    std::copy_n(block.data() + parameter.offset + i * parameter.stride, parameter.cols(),
                dense.data() + i * parameter.cols());
  }
}

template <class Element>
void copy_in(const Parameter& parameter, std::span<const Element> dense, std::span<Element> block) {
  assert(dense.size() == parameter.count());
  for (std::size_t i = 0; i < parameter.rows(); ++i) {
    std::copy_n(dense.data() + i * parameter.cols(), parameter.cols(),
                block.data() + parameter.offset + i * parameter.stride);
  }
}

template void copy_out(const Parameter&, std::span<const float>, std::span<float>);
template void copy_out(const Parameter&, std::span<const double>, std::span<double>);
template void copy_in(const Parameter&, std::span<const float>, std::span<float>);
template void copy_in(const Parameter&, std::span<const double>, std::span<double>);

}  // namespace rnnsearch::model
