#include "rnnsearch/layers/decoder.h"

#include <algorithm>

#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/layers/gated_recurrence.h"

namespace rnnsearch::layers {
namespace {

template <class Real>
std::size_t longest_source(const kernels::AttentionMemory<Real>& memory) {
  std::size_t longest = 0;
  for (std::size_t b = 0; b + 1 < memory.offsets.size(); ++b) {
    longest = std::max(longest, memory.offsets[b + 1] - memory.offsets[b]);
  }
  return longest;
}

}  // namespace

template <class Real>
void decoder_forward(const DecoderWeights<Real>& weights, const Packing& packing, const DecoderInput<Real>& input,
                     DecoderActivations<Real>& activations) {
  const std::size_t Y = packing.words(), B = packing.sentences();
  const std::size_t n = weights.U.rows, A = weights.v_a.size(), C = weights.C.rows;
  const auto x = activations.x.shape(Y, 3 * n);
  affine_forward<Real>(input.words, weights.W_in, weights.b, x, activations.memory);

  const auto previous = activations.previous.shape(Y, n), context = activations.context.shape(Y, C);
  const auto query = activations.query.shape(Y, A);
  const auto candidate = x.columns(0, n), z = x.columns(n, n), r = x.columns(2 * n, n);
  kernels::Scratch::Frame frame(activations.memory);
  const auto fused = frame.matrix<Real>(B, A + 2 * n);  // query | recurrent z | recurrent r of a step
  const auto extra = frame.matrix<Real>(B, 3 * n), scratch = frame.matrix<Real>(B, 2 * n);
  const auto alpha = activations.alpha.shape(Y, input.memory ? longest_source(*input.memory) : 0);
  if (!input.memory) kernels::multiply<Real>(input.fixed_context, weights.C, extra);

  kernels::PackedMatrix<Real> U_query_gates, U, C_packed;
  U_query_gates.pack(weights.U_query_gates, frame);
  U.pack(weights.U, frame);
  if (input.memory) C_packed.pack(weights.C, frame);
  kernels::copy_rows<Real>(input.initial_states, packing.step(previous, 0));
  for (std::size_t t = 0; t < packing.steps(); ++t) {
    const std::size_t active = packing.active[t], continuing = packing.continuing(t);
    const auto context_t = packing.step(context, t);
    const auto fused_t = fused.row_range(0, active);
    kernels::multiply<Real>(packing.step(previous, t), U_query_gates, fused_t);
    if (input.memory) {
      {
        const PhaseTimes::Scope scope(input.phases, Phase::kAttention);
        kernels::attention_forward<Real>(*input.memory, {packing.order.data(), active}, fused_t.columns(0, A),
                                         packing.step(alpha, t), context_t);
      }
      kernels::copy_rows<Real>(fused_t.columns(0, A), packing.step(query, t));
      kernels::multiply<Real>(context_t.row_range(0, continuing), C_packed, extra.row_range(0, continuing));
    } else {
      kernels::copy_rows<Real>(input.fixed_context.row_range(0, active), context_t);
    }
    if (continuing == 0) break;
    gated_step_forward<Real>(U,
                             {packing.step(x, t, continuing), extra.row_range(0, continuing),
                              fused_t.row_range(0, continuing).columns(A, 2 * n), packing.step(previous, t, continuing),
                              packing.step(z, t, continuing), packing.step(r, t, continuing),
                              packing.step(candidate, t, continuing), packing.step(previous, t + 1)},
                             scratch);
  }
}

template <class Real>
void decoder_backward(const DecoderWeights<Real>& weights, const DecoderWeights<Real>& gradient, const Packing& packing,
                      const DecoderInput<Real>& input, DecoderActivations<Real>& activations,
                      const DecoderGradients<Real>& gradients) {
  const std::size_t Y = packing.words(), B = packing.sentences();
  const std::size_t n = weights.U.rows, A = weights.v_a.size();
  const auto previous = activations.previous.view(), context = activations.context.view();
  const auto query = activations.query.view(), alpha = activations.alpha.view();
  const auto x_gradient = activations.x.view();
  const auto candidate = x_gradient.columns(0, n), z = x_gradient.columns(n, n), r = x_gradient.columns(2 * n, n);
  kernels::Scratch::Frame frame(activations.memory);
  const auto fused_gradient = frame.matrix<Real>(Y, A + 2 * n);
  const auto v_a_gradient = frame.zeros<Real>(B, A);
  const auto scratch = frame.matrix<Real>(B, n), reset = frame.matrix<Real>(Y, n);

  kernels::PackedMatrix<Real> U_query_gates, U, C;  // transposed
  U_query_gates.pack_transposed(weights.U_query_gates, frame);
  U.pack_transposed(weights.U, frame);
  if (input.memory) C.pack_transposed(weights.C, frame);
  for (std::size_t t = packing.steps(); t-- > 0;) {
    const std::size_t active = packing.active[t], continuing = packing.continuing(t);
    const auto x_gradient_t = packing.step(x_gradient, t), fused_gradient_t = packing.step(fused_gradient, t);
    const auto previous_gradient_t = packing.step(gradients.previous, t);
    const auto context_gradient_t = packing.step(gradients.context, t);
    kernels::zero_rows<Real>(x_gradient_t.row_range(continuing, active - continuing));
    kernels::zero_rows<Real>(fused_gradient_t.row_range(continuing, active - continuing).columns(A, 2 * n));
    // A sentence that ends at this step has no s_i.
    kernels::zero_rows<Real>(packing.step(reset, t).row_range(continuing, active - continuing));
    if (continuing > 0) {
      gated_step_backward<Real>(
          U,
          {packing.step(gradients.previous, t + 1), packing.step(z, t, continuing), packing.step(r, t, continuing),
           packing.step(candidate, t, continuing), packing.step(previous, t, continuing),
           x_gradient_t.row_range(0, continuing), fused_gradient_t.row_range(0, continuing).columns(A, 2 * n),
           previous_gradient_t.row_range(0, continuing), packing.step(reset, t, continuing)},
          scratch);
    }
    if (input.memory) {
      if (continuing > 0) {
        kernels::multiply<Real>(x_gradient_t.row_range(0, continuing), C, context_gradient_t.row_range(0, continuing),
                                kernels::Into::kAdd);
      }
      const PhaseTimes::Scope scope(input.phases, Phase::kAttention);
      kernels::attention_backward<Real>(
          *input.memory, {packing.order.data(), active},
          {packing.step(query, t), packing.step(alpha, t), context_gradient_t, fused_gradient_t.columns(0, A),
           gradients.keys, v_a_gradient, gradients.guide.data ? packing.step(gradients.guide, t) : gradients.guide});
    }
    kernels::multiply<Real>(fused_gradient_t, U_query_gates, previous_gradient_t, kernels::Into::kAdd);
  }
  if (input.memory) {
    const PhaseTimes::Scope scope(input.phases, Phase::kAttention);
    const SentenceRows steps(packing);
    kernels::annotations_backward<Real>(input.memory->offsets, {steps.offsets, steps.rows}, alpha, gradients.context,
                                        gradients.annotations);
  } else {
    kernels::multiply_transposed<Real>(x_gradient, weights.C, gradients.context, kernels::Into::kAdd);
  }
  kernels::accumulate_outer<Real>(previous, fused_gradient, gradient.U_query_gates);
  kernels::accumulate_outer<Real>(reset, x_gradient.columns(0, n), gradient.U);
  kernels::accumulate_outer<Real>(context, x_gradient, gradient.C);
  kernels::add_column_sums<Real>(v_a_gradient, gradient.v_a);
  const auto sums = add_repeated<Real>(input.words, x_gradient, frame);
  kernels::accumulate_outer<Real>(input.words.distinct, sums, gradient.W_in);
  kernels::add_column_sums<Real>(sums.columns(0, gradient.b.size()), gradient.b);
  kernels::multiply_transposed<Real>(sums, weights.W_in, gradients.words, kernels::Into::kAdd);
}

#define RNNSEARCH_INSTANTIATE(Real)                                                                        \
  template void decoder_forward(const DecoderWeights<Real>&, const Packing&, const DecoderInput<Real>&,    \
                                DecoderActivations<Real>&);                                                \
  template void decoder_backward(const DecoderWeights<Real>&, const DecoderWeights<Real>&, const Packing&, \
                                 const DecoderInput<Real>&, DecoderActivations<Real>&, const DecoderGradients<Real>&);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::layers
