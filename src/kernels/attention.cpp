#include "rnnsearch/kernels/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/attention_rows.h"
#include "kernels/partition.h"
#include "kernels/row_tables.h"
#include "kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

template <class D, class T>
HWY_INLINE auto load(D d, const T* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE auto load(D d, const BFloat16* from) {
  const hn::RebindToUnsigned<D> whole;
  const hn::Rebind<std::uint16_t, D> half;
  const auto upper = hn::PromoteTo(whole, hn::LoadU(half, reinterpret_cast<const std::uint16_t*>(from)));
  return hn::BitCast(d, hn::ShiftLeft<16>(upper));
}

template <class T, class Memory>
T dot(std::size_t n, const T* a, const Memory* b) {
  return sum_of<T>(n, [&](auto d, std::size_t i) HWY_ATTR { return hn::Mul(hn::LoadU(d, a + i), load(d, b + i)); });
}

template <class T, class Memory>
void forward_row(std::size_t Tx, std::size_t A, std::size_t C, const Memory* keys, std::size_t keys_stride,
                 const Memory* annotations, std::size_t annotations_stride, const T* v_a, const T* query, T* alpha,
                 T* context) {
  T largest = -std::numeric_limits<T>::infinity();
  for (std::size_t j = 0; j < Tx; ++j) {
    const Memory* key = keys + j * keys_stride;
    alpha[j] = sum_of<T>(A, [&](auto d, std::size_t i) HWY_ATTR {
      return hn::Mul(hn::LoadU(d, v_a + i), tanh_of(d, hn::Add(hn::LoadU(d, query + i), load(d, key + i))));
    });
    largest = std::max(largest, alpha[j]);
  }
  for_each<T>(Tx, [&](auto d, std::size_t j) HWY_ATTR {
    hn::StoreU(exp_of(d, hn::Sub(hn::LoadU(d, alpha + j), hn::Set(d, largest))), d, alpha + j);
  });
  T sum = 0;
  for (std::size_t j = 0; j < Tx; ++j) sum += alpha[j];
  for (std::size_t j = 0; j < Tx; ++j) alpha[j] /= sum;
  for_each<T>(C, [&](auto d, std::size_t i) HWY_ATTR {
    auto c = hn::Zero(d);
    for (std::size_t j = 0; j < Tx; ++j) {
      c = hn::MulAdd(hn::Set(d, alpha[j]), load(d, annotations + j * annotations_stride + i), c);
    }
    hn::StoreU(c, d, context + i);
  });
}

template <class T, class Memory>
void backward_row(std::size_t Tx, std::size_t A, std::size_t C, const Memory* keys, std::size_t keys_stride,
                  const Memory* annotations, std::size_t annotations_stride, const T* v_a, const T* query,
                  const T* alpha, const T* guide, const T* context_gradient, T* energy_gradient, T* query_gradient,
                  T* keys_gradient, std::size_t keys_gradient_stride, T* v_a_gradient) {
  T mean = 0;  // mean of dL/dalpha weighted by alpha, which the backward pass of softmax subtracts
  for (std::size_t j = 0; j < Tx; ++j) {
    energy_gradient[j] = dot(C, context_gradient, annotations + j * annotations_stride);
    mean += alpha[j] * energy_gradient[j];
  }
  for (std::size_t j = 0; j < Tx; ++j) energy_gradient[j] = alpha[j] * (energy_gradient[j] - mean);
  if (guide) add_guide(Tx, alpha, guide, energy_gradient);
  for_each<T>(A, [&](auto d, std::size_t i) HWY_ATTR {
    const auto one = hn::Set(d, T{1});
    const auto q = hn::LoadU(d, query + i);
    const auto v = hn::LoadU(d, v_a + i);
    auto dq = hn::Zero(d);
    auto dv = hn::LoadU(d, v_a_gradient + i);
    for (std::size_t j = 0; j < Tx; ++j) {
      const auto t = tanh_of(d, hn::Add(q, load(d, keys + j * keys_stride + i)));
      const auto de = hn::Set(d, energy_gradient[j]);
      const auto g = hn::Mul(hn::Mul(de, v), hn::NegMulAdd(t, t, one));
      T* dk = keys_gradient + j * keys_gradient_stride + i;
      hn::StoreU(hn::Add(hn::LoadU(d, dk), g), d, dk);
      dq = hn::Add(dq, g);
      dv = hn::MulAdd(de, t, dv);
    }
    hn::StoreU(dq, d, query_gradient + i);
    hn::StoreU(dv, d, v_a_gradient + i);
  });
}

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

template <class T, class Memory>
constexpr AttentionRows<T, Memory> kAttentionRows = {forward_row<T, Memory>, backward_row<T, Memory>,
                                                     annotations_of_sentence<T>};
RNNSEARCH_ROW_TABLE(float_attention, kAttentionRows<float, float>)
RNNSEARCH_ROW_TABLE(rounded_attention, kAttentionRows<float, BFloat16>)
RNNSEARCH_ROW_TABLE(double_attention, kAttentionRows<double, double>)

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rnnsearch::kernels {

RNNSEARCH_CHOOSE_ROW_TABLE(float_attention, AttentionRows<float, float>)
RNNSEARCH_CHOOSE_ROW_TABLE(rounded_attention, AttentionRows<float, BFloat16>)
RNNSEARCH_CHOOSE_ROW_TABLE(double_attention, AttentionRows<double, double>)

namespace {

// Calls work(annotations, keys) with the rounded matrices if they are given, otherwise with the float ones.
template <class Real, class Work>
void with_memory(const AttentionMemory<Real>& memory, const Work& work) {
  if constexpr (std::is_same_v<Real, float>) {
    if (memory.rounded_keys.rows > 0) return work(memory.rounded_annotations, memory.rounded_keys);
  }
  work(memory.annotations, memory.keys);
}

}  // namespace

template <class Real>
void attention_forward(const AttentionMemory<Real>& memory, std::span<const std::uint32_t> sentence,
                       ConstMatrixView<Real> query, MatrixView<Real> alpha, MatrixView<Real> context) {
  assert(query.rows == sentence.size() && alpha.rows == query.rows && context.rows == query.rows);
  with_memory(memory, [&]<class Memory>(ConstMatrixView<Memory> annotations, ConstMatrixView<Memory> keys) {
    parallel_for(sentence.size(), [&](std::size_t row) {
      const std::size_t first = memory.offsets[sentence[row]];
      const std::size_t Tx = memory.offsets[sentence[row] + 1] - first;
      row_table<AttentionRows<Real, Memory>>().forward(Tx, query.cols, context.cols, keys.row(first), keys.stride,
                                                       annotations.row(first), annotations.stride, memory.v_a.data(),
                                                       query.row(row), alpha.row(row), context.row(row));
      std::fill(alpha.row(row) + Tx, alpha.row(row) + alpha.cols, Real{0});
    });
  });
}

template <class Real>
void attention_backward(const AttentionMemory<Real>& memory, std::span<const std::uint32_t> sentence,
                        const AttentionBackward<Real>& of) {
  with_memory(memory, [&]<class Memory>(ConstMatrixView<Memory> annotations, ConstMatrixView<Memory> keys) {
    parallel_for(sentence.size(), [&](std::size_t row) {
      const std::size_t b = sentence[row];
      const std::size_t first = memory.offsets[b];
      const std::size_t Tx = memory.offsets[b + 1] - first;
      thread_local std::vector<Real> energy_gradient;
      energy_gradient.resize(Tx);
      row_table<AttentionRows<Real, Memory>>().backward(
          Tx, of.query.cols, of.context_gradient.cols, keys.row(first), keys.stride, annotations.row(first),
          annotations.stride, memory.v_a.data(), of.query.row(row), of.alpha.row(row),
          of.guide.data ? of.guide.row(row) : nullptr, of.context_gradient.row(row), energy_gradient.data(),
          of.query_gradient.row(row), of.keys_gradient.row(first), of.keys_gradient.stride, of.v_a_gradient.row(b));
    });
  });
}

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
    row_table<AttentionRows<Real, Real>>().annotations(
        Tx, context_gradient.cols, rows.size(), rows.data(), alpha.data, alpha.stride, context_gradient.data,
        context_gradient.stride, scratch.data(), annotations_gradient.row(first), annotations_gradient.stride);
  });
}

#define RNNSEARCH_INSTANTIATE(Real)                                                                                    \
  template void attention_forward(const AttentionMemory<Real>&, std::span<const std::uint32_t>, ConstMatrixView<Real>, \
                                  MatrixView<Real>, MatrixView<Real>);                                                 \
  template void attention_backward(const AttentionMemory<Real>&, std::span<const std::uint32_t>,                       \
                                   const AttentionBackward<Real>&);                                                    \
  template void annotations_backward(std::span<const std::size_t>, const AttentionSteps&, ConstMatrixView<Real>,       \
                                     ConstMatrixView<Real>, MatrixView<Real>);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::kernels
#endif
