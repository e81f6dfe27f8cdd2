#include "rnnsearch/kernels/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/dispatch.h"
#include "kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

constexpr std::size_t kBlock = 64;  // columns of the context gradients that are copied side by side

// A sentence's rows of alpha, and the columns of its context gradients that are worked on.
struct SentenceSteps {
  std::span<const std::uint32_t> rows;
  ConstMatrix alpha;
  const Real* block;  // [rows.size(), kBlock]
};

// Row J of gradient += alpha^T block, for all J from column j of alpha on. The sums are parameters because SVE's
// vectors have no size that an array could be made of.
template <class D, std::size_t... J, class... Sums>
HWY_INLINE void add_steps(D d, std::index_sequence<J...>, const SentenceSteps& steps, std::size_t j, std::size_t i,
                          Matrix gradient, Sums... sums) {
  for (std::size_t t = 0; t < steps.rows.size(); ++t) {
    const auto g = hn::LoadU(d, steps.block + t * kBlock + i);
    const Real* a = steps.alpha.row(steps.rows[t]) + j;
    ((sums = hn::MulAdd(hn::Set(d, a[J]), g, sums)), ...);
  }
  (hn::StoreU(sums, d, gradient.row(j + J) + i), ...);
}

template <std::size_t... J>
void add_words(std::index_sequence<J...> all, const SentenceSteps& steps, std::size_t j, Matrix gradient) {
  for_each(gradient.cols, [&](auto d, std::size_t i) HWY_ATTR {
    add_steps(d, all, steps, j, i, gradient, hn::LoadU(d, gradient.row(j + J) + i)...);
  });
}

void annotations_backward(const AnnotationsBackward& args, std::size_t first, std::size_t last) {
  constexpr std::size_t kTile = 8;
  const std::size_t C = args.context_gradient.cols;
  for (std::size_t b = first; b < last; ++b) {
    const std::size_t begin = args.source_offsets[b], Tx = args.source_offsets[b + 1] - begin;
    const auto rows = args.rows.subspan(args.offsets[b], args.offsets[b + 1] - args.offsets[b]);
    thread_local std::vector<Real> block;
    block.resize(rows.size() * kBlock);
    for (std::size_t column = 0; column < C; column += kBlock) {
      const std::size_t cols = std::min(kBlock, C - column);
      for (std::size_t t = 0; t < rows.size(); ++t) {
        std::copy_n(args.context_gradient.row(rows[t]) + column, cols, block.data() + t * kBlock);
      }
      const Matrix gradient = args.annotations_gradient.row_range(begin, Tx).columns(column, cols);
      const SentenceSteps steps{rows, args.alpha, block.data()};
      std::size_t j = 0;
      for (; j + kTile <= Tx; j += kTile) add_words(std::make_index_sequence<kTile>(), steps, j, gradient);
      for (; j < Tx; ++j) add_words(std::make_index_sequence<1>(), steps, j, gradient);
    }
  }
}

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rnnsearch::kernels {

RNNSEARCH_ROW_KERNEL(annotations_backward, AnnotationsBackward, args.source_offsets.size() - 1, 1)

}  // namespace rnnsearch::kernels
#endif
