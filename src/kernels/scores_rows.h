// The attention kernels with a choice of scores for one row, compiled for each instruction set.
#pragma once

#include <cstddef>

#include "rnnsearch/kernels/scores.h"

namespace rnnsearch::kernels {

template <class T>
struct ScoreRow {
  std::size_t score;     // index in scores()
  std::size_t Tx, A, C;  // Tx: number of words in the window
  const T* keys;
  std::size_t keys_stride;
  const T* annotations;
  std::size_t annotations_stride;
  const T *v, *query;
  const T* window;  // [Tx] factors of alpha after the softmax; nullptr: all are 1
};

template <class T>
struct ScoreRows {
  // dropped may be nullptr.
  void (*forward)(const ScoreRow<T>& row, T* alpha, T* dropped, T* context);
  // guide: [Tx] or nullptr. dropped: the weights of the context. energy_gradient, weight_gradient: scratch memory,
  // [Tx]. On return, weight_gradient holds w o dL/dw for the context weights w. v_gradient may be nullptr.
  void (*backward)(const ScoreRow<T>& row, const T* alpha, const T* guide, const T* dropped, const T* context_gradient,
                   T* energy_gradient, T* weight_gradient, T* query_gradient, T* keys_gradient,
                   std::size_t keys_gradient_stride, T* v_gradient);
};

}  // namespace rnnsearch::kernels
