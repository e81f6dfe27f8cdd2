#include "rnnsearch/layers/layer_normalisation.h"

#include <utility>

#include "rnnsearch/kernels/normalisation.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::layers {

LayerNormalisation::LayerNormalisation(const NormalisationWeights& weights, const NormalisationWeights& gradient,
                                       std::vector<std::size_t> groups)
    : weights_(weights), gradient_(gradient), groups_(std::move(groups)) {}

void LayerNormalisation::begin(std::size_t rows) {
  normalised_.shape(rows, weights_.g.size());
  y_gradient_.shape(rows, weights_.g.size());
  inverse_deviation_.shape(rows, groups_.size());
}

void LayerNormalisation::forward(std::size_t first, Matrix a) {
  const auto normalised = normalised_.view().row_range(first, a.rows);
  const auto inverse_deviation = inverse_deviation_.view().row_range(first, a.rows);
  std::size_t column = 0;
  for (std::size_t k = 0; k < groups_.size(); column += groups_[k++]) {
    const auto sums = a.columns(column, groups_[k]);
    kernels::normalise_forward({sums, weights_.g.subspan(column, groups_[k]), weights_.b.subspan(column, groups_[k]),
                                normalised.columns(column, groups_[k]), inverse_deviation.columns(k, 1), sums});
  }
}

void LayerNormalisation::backward(std::size_t first, Matrix gradient) {
  const auto normalised = normalised_.view().row_range(first, gradient.rows);
  const auto inverse_deviation = inverse_deviation_.view().row_range(first, gradient.rows);
  kernels::copy_rows(gradient, y_gradient_.view().row_range(first, gradient.rows));
  std::size_t column = 0;
  for (std::size_t k = 0; k < groups_.size(); column += groups_[k++]) {
    const auto sums = gradient.columns(column, groups_[k]);
    kernels::normalise_backward({sums, weights_.g.subspan(column, groups_[k]), normalised.columns(column, groups_[k]),
                                 inverse_deviation.columns(k, 1), sums});
  }
}

void LayerNormalisation::accumulate() const {
  kernels::normalise_accumulate({y_gradient_.view(), normalised_.view(), gradient_.g, gradient_.b});
}

}  // namespace rnnsearch::layers
