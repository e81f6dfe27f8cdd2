#include "rnnsearch/kernels/bfloat16.h"

#include <cassert>
#include <cstddef>

#include "kernels/partition.h"

namespace rnnsearch::kernels {

void round_to_bfloat16(ConstMatrixView<float> from, MatrixView<BFloat16> to) {
  assert(from.rows == to.rows && from.cols == to.cols);
  for_each_row(from.rows, from.cols, [&](std::size_t i) {
    for (std::size_t j = 0; j < from.cols; ++j) to.row(i)[j] = nearest_bfloat16(from.row(i)[j]);
  });
}

}  // namespace rnnsearch::kernels
