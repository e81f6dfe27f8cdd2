// The most probable words of the output layer, without the scores of all words in memory: blocks of words go through
// product, softmax statistics and selection while they are in the cache. R rows, H width of t, K words.
#pragma once

#include <span>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/select_top_words.h"

namespace rnnsearch::kernels {

/// The `top.limit` most probable words of each row, or fewer if no others have a probability above 0. The
/// log-probabilities have the bits that log_softmax (softmax.h) gives to the product t W_o, and do not depend on the
/// other rows and on the number of threads. top.look_up reads the arguments. Must not be called inside parallel_for.
/// t [R, H], W_o [H, K], bias [K]
void top_words(ConstMatrix t, const PackedMatrix& W_o, std::span<const Real> bias, TopWords& top);

}  // namespace rnnsearch::kernels
