// The attention kernels with a choice of scores for one row, compiled for each instruction set.
#pragma once

#include <cstddef>

#include "rnnsearch/kernels/scores.h"

namespace rnnsearch::kernels {

/// Memory: the element type of keys and annotations, T or BFloat16.
template <class T, class Memory>
struct ScoreRow {
  std::size_t score;     // index in scores()
  std::size_t Tx, A, C;  // Tx: number of words in the window
  const Memory* keys;
  std::size_t keys_stride;
  const Memory* annotations;
  std::size_t annotations_stride;
  const T *v, *query;
  const T* window;  // [Tx] factors of alpha after the softmax; nullptr: all are 1
};

template <class T, class Memory>
struct ScoreRows {
  // dropped may be nullptr.
  void (*forward)(const ScoreRow<T, Memory>& row, T* alpha, T* dropped, T* context);
  // guide: [Tx] or nullptr. dropped: the weights of the context. energy_gradient, weight_gradient: scratch memory,
  // [Tx]. On return, weight_gradient holds w o dL/dw for the context weights w. v_gradient may be nullptr.
  void (*backward)(const ScoreRow<T, Memory>& row, const T* alpha, const T* guide, const T* dropped,
                   const T* context_gradient, T* energy_gradient, T* weight_gradient, T* query_gradient,
                   T* keys_gradient, std::size_t keys_gradient_stride, T* v_gradient);
};

/// ADDS to energy_gradient [Tx] the gradient of -sum_j guide_j log alpha_j by the energies, of which alpha is the
/// softmax: alpha_j sum(guide) - guide_j. Nothing is divided by alpha.
template <class T>
inline void add_guide(std::size_t Tx, const T* alpha, const T* guide, T* energy_gradient) {
  T sum = 0;
  for (std::size_t j = 0; j < Tx; ++j) sum += guide[j];
  if (sum == 0) return;
  for (std::size_t j = 0; j < Tx; ++j) energy_gradient[j] += alpha[j] * sum - guide[j];
}

}  // namespace rnnsearch::kernels
