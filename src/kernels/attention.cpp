#include "rnnsearch/kernels/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/attention_rows.h"
#include "kernels/partition.h"
#include "kernels/row_tables.h"
#include "kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

// Row J of gradient += alpha^T block, for all J. The sums are parameters because SVE's vectors have no size that an
// array could be made of.
template <class D, class T, std::size_t... J, class... Sums>
HWY_INLINE void annotations_sums(D d, std::index_sequence<J...>, std::size_t steps, const std::uint32_t* rows,
                                 const T* alpha, std::size_t alpha_stride, const T* block, T* gradient,
                                 std::size_t stride, Sums... sums) {
  for (std::size_t t = 0; t < steps; ++t) {
    const auto g = hn::LoadU(d, block + t * kAnnotationsBlock);
    const T* a = alpha + rows[t] * alpha_stride;
    ((sums = hn::MulAdd(hn::Set(d, a[J]), g, sums)), ...);
  }
  (hn::StoreU(sums, d, gradient + J * stride), ...);
}

template <class T, std::size_t... J>
void annotations_tile(std::index_sequence<J...> all, std::size_t cols, std::size_t steps, const std::uint32_t* rows,
                      const T* alpha, std::size_t alpha_stride, const T* block, T* gradient, std::size_t stride) {
  for_each<T>(cols, [&](auto d, std::size_t i) HWY_ATTR {
    annotations_sums(d, all, steps, rows, alpha, alpha_stride, block + i, gradient + i, stride,
                     hn::LoadU(d, gradient + i + J * stride)...);
  });
}

template <class T>
void annotations_of_sentence(std::size_t Tx, std::size_t C, std::size_t steps, const std::uint32_t* rows,
                             const T* alpha, std::size_t alpha_stride, const T* context_gradient,
                             std::size_t context_gradient_stride, T* scratch, T* annotations_gradient,
                             std::size_t annotations_gradient_stride) {
  constexpr std::size_t kTile = 8;
  for (std::size_t first = 0; first < C; first += kAnnotationsBlock) {
    const std::size_t cols = std::min(kAnnotationsBlock, C - first);
    for (std::size_t t = 0; t < steps; ++t) {
      std::copy_n(context_gradient + rows[t] * context_gradient_stride + first, cols, scratch + t * kAnnotationsBlock);
    }
    T* gradient = annotations_gradient + first;
    std::size_t j = 0;
    for (; j + kTile <= Tx; j += kTile) {
      annotations_tile(std::make_index_sequence<kTile>(), cols, steps, rows, alpha + j, alpha_stride, scratch,
                       gradient + j * annotations_gradient_stride, annotations_gradient_stride);
    }
    for (; j < Tx; ++j) {
      annotations_tile(std::make_index_sequence<1>(), cols, steps, rows, alpha + j, alpha_stride, scratch,
                       gradient + j * annotations_gradient_stride, annotations_gradient_stride);
    }
  }
}

template <class T>
constexpr AttentionRows<T> kAttentionRows = {annotations_of_sentence<T>};
RNNSEARCH_ROW_TABLE(float_attention, kAttentionRows<float>)
RNNSEARCH_ROW_TABLE(double_attention, kAttentionRows<double>)

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rnnsearch::kernels {

RNNSEARCH_CHOOSE_ROW_TABLE(float_attention, AttentionRows<float>)
RNNSEARCH_CHOOSE_ROW_TABLE(double_attention, AttentionRows<double>)

template <class Real>
void annotations_backward(std::span<const std::size_t> source_offsets, const AttentionSteps& steps,
                          ConstMatrixView<Real> alpha, ConstMatrixView<Real> context_gradient,
                          MatrixView<Real> annotations_gradient) {
  assert(source_offsets.size() == steps.offsets.size() && alpha.rows == context_gradient.rows);
  parallel_for(source_offsets.size() - 1, [&](std::size_t b) {
    const std::size_t first = source_offsets[b], Tx = source_offsets[b + 1] - first;
    const auto rows = steps.rows.subspan(steps.offsets[b], steps.offsets[b + 1] - steps.offsets[b]);
    thread_local std::vector<Real> scratch;
    scratch.resize(rows.size() * kAnnotationsBlock);
    row_table<AttentionRows<Real>>().annotations(
        Tx, context_gradient.cols, rows.size(), rows.data(), alpha.data, alpha.stride, context_gradient.data,
        context_gradient.stride, scratch.data(), annotations_gradient.row(first), annotations_gradient.stride);
  });
}

#define RNNSEARCH_INSTANTIATE(Real)                                                                              \
  template void annotations_backward(std::span<const std::size_t>, const AttentionSteps&, ConstMatrixView<Real>, \
                                     ConstMatrixView<Real>, MatrixView<Real>);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::kernels
#endif
