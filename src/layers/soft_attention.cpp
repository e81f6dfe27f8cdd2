#include "rnnsearch/layers/soft_attention.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "rnnsearch/base/portable.h"
#include "rnnsearch/kernels/cells.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::layers {

using kernels::Into;

SoftAttention::SoftAttention(const kernels::Score& score, WindowKind kind, std::size_t D, std::size_t A,
                             const SoftAttentionWeights& weights, const SoftAttentionWeights& gradient)
    : score_(score), kind_(kind), D_(D), A_(A), weights_(weights), gradient_(gradient) {
  if (!score.has_v) ones_.assign(A, score.scaled ? 1 / std::sqrt(static_cast<Real>(A)) : Real{1});
}

void SoftAttention::keys(ConstMatrix annotations, Matrix keys) const {
  kernels::multiply(annotations, weights_.U_a, keys);
  if (score_.has_bias) kernels::add_to_rows(weights_.b_a, keys);
}

void SoftAttention::pack(kernels::Scratch::Frame& frame) {
  if (score_.projects_query) W_a_.pack(weights_.W_a, &frame);
  if (kind_ == WindowKind::kLocalP) W_p_.pack(weights_.W_p, &frame);
}

void SoftAttention::begin(std::size_t rows, std::size_t longest, const kernels::DropoutMask& dropout) {
  query_.shape(rows, A_);
  alpha_.shape(rows, longest);
  dropout_ = dropout;
  if (dropout.drops()) {  // each weight's factor; the forward pass makes the dropped weights of them
    const auto factors = dropped_.shape(rows, longest);
    std::fill_n(factors.data, rows * longest, Real{1});
    kernels::drop(dropout, factors);
  }
  if (kind_ == WindowKind::kGlobal) return;
  first_word_.resize(rows);
  last_word_.resize(rows);
  if (kind_ == WindowKind::kLocalM) return;
  centre_.resize(rows);
  centre_hidden_.shape(rows, weights_.v_p.size());
  centre_sum_.shape(rows, 1);
}

kernels::ScoredMemory SoftAttention::scored(const kernels::AttentionMemory& memory) const {
  return {memory, &score_, score_.has_v ? std::span<const Real>(weights_.v_a) : std::span<const Real>(ones_)};
}

kernels::Windows SoftAttention::windows(std::size_t first, std::size_t count) const {
  kernels::Windows windows;
  if (kind_ == WindowKind::kGlobal) return windows;
  windows.first = std::span(first_word_).subspan(first, count);
  windows.last = std::span(last_word_).subspan(first, count);
  if (kind_ == WindowKind::kLocalM) return windows;
  windows.centre = std::span(centre_).subspan(first, count);
  windows.deviation = static_cast<Real>(D_) / 2;
  return windows;
}

void SoftAttention::place_windows(std::size_t first, const kernels::AttentionMemory& memory,
                                  std::span<const std::uint32_t> sentence, ConstMatrix state,
                                  std::span<const std::uint32_t> positions) {
  const std::size_t R = state.rows;
  const auto place = [&](std::size_t i, std::size_t from, std::size_t to) {
    first_word_[first + i] = static_cast<std::uint32_t>(from);
    last_word_[first + i] = static_cast<std::uint32_t>(to);
  };
  const auto length = [&](std::size_t i) { return memory.offsets[sentence[i] + 1] - memory.offsets[sentence[i]]; };
  if (kind_ == WindowKind::kLocalM) {
    for (std::size_t i = 0; i < R; ++i) {
      const std::size_t Tx = length(i), p = std::min<std::size_t>(positions[i], Tx - 1);
      place(i, p > D_ ? p - D_ : 0, std::min(Tx, p + D_ + 1));
    }
    return;
  }
  const auto hidden = centre_hidden_.view().row_range(first, R), sum = centre_sum_.view().row_range(first, R);
  kernels::multiply(state, W_p_, hidden);
  kernels::tanh_forward(hidden);
  kernels::multiply(hidden, ConstMatrix(weights_.v_p.data(), weights_.v_p.size(), 1), sum);
  const auto D = static_cast<Real>(D_);
  for (std::size_t i = 0; i < R; ++i) {
    const std::size_t Tx = length(i);
    const auto longest = static_cast<Real>(Tx);
    const Real p = longest / (1 + static_cast<Real>(portable::exp(-static_cast<double>(sum(i, 0)))));
    centre_[first + i] = p;
    if (std::isfinite(p)) {  // words count from 1 here
      place(i, static_cast<std::size_t>(std::max(Real{1}, std::ceil(p - D))) - 1,
            static_cast<std::size_t>(std::min(longest, std::floor(p + D))));
    } else {
      place(i, 0, Tx);
    }
  }
}

void SoftAttention::forward(std::size_t first, const kernels::AttentionMemory& memory,
                            std::span<const std::uint32_t> sentence, ConstMatrix state,
                            std::span<const std::uint32_t> positions, Matrix context) {
  const std::size_t R = state.rows;
  const auto query = query_.view().row_range(first, R);
  if (score_.projects_query) {
    kernels::multiply(state, W_a_, query);
  } else {
    kernels::copy_rows(state, query);
  }
  if (kind_ != WindowKind::kGlobal) place_windows(first, memory, sentence, state, positions);
  kernels::scored_attention_forward({{scored(memory), sentence, windows(first, R), query},
                                     alpha_.view().row_range(first, R),
                                     context,
                                     dropped(first, R)});
}

void SoftAttention::begin_backward(std::size_t sentences, kernels::Scratch::Frame& frame, ConstMatrix guide) {
  assert(!guide.data || kind_ == WindowKind::kGlobal);
  guide_ = guide;
  if (score_.projects_query) W_a_.pack_transposed(weights_.W_a, &frame);
  if (kind_ == WindowKind::kLocalP) W_p_.pack_transposed(weights_.W_p, &frame);
  query_gradient_ = frame.matrix(query_.view().rows, A_);
  if (score_.has_v) v_gradient_ = frame.zeros(sentences, A_);
  if (kind_ == WindowKind::kLocalP) {
    centre_hidden_gradient_ = frame.matrix(centre_hidden_.view().rows, centre_hidden_.view().cols);
  }
}

void SoftAttention::backward(std::size_t first, const kernels::AttentionMemory& memory,
                             std::span<const std::uint32_t> sentence, ConstMatrix context_gradient,
                             Matrix state_gradient, Matrix keys_gradient) {
  const std::size_t R = state_gradient.rows;
  const auto query_gradient = query_gradient_.row_range(first, R);
  const bool predicts = kind_ == WindowKind::kLocalP;
  const auto sum = predicts ? centre_sum_.view().row_range(first, R) : Matrix();  // reused for the gradient of the sum
  kernels::scored_attention_backward({{scored(memory), sentence, windows(first, R), query_.view().row_range(first, R)},
                                      alpha_.view().row_range(first, R),
                                      context_gradient,
                                      query_gradient,
                                      keys_gradient,
                                      score_.has_v ? v_gradient_ : Matrix(),
                                      predicts ? std::span<Real>(sum.data, R) : std::span<Real>(),
                                      dropped(first, R),
                                      guide_.data ? guide_.row_range(first, R) : guide_});
  if (score_.projects_query) {
    kernels::multiply(query_gradient, W_a_, state_gradient, Into::kAdd);
  } else {
    kernels::add(query_gradient, state_gradient);
  }
  if (!predicts) return;
  for (std::size_t i = 0; i < R; ++i) {  // p = Tx sigma(sum)
    const auto Tx = static_cast<Real>(memory.offsets[sentence[i] + 1] - memory.offsets[sentence[i]]);
    const Real p = centre_[first + i];
    sum(i, 0) *= p * (1 - p / Tx);
  }
  const auto hidden_gradient = centre_hidden_gradient_.row_range(first, R);
  kernels::multiply(sum, ConstMatrix(weights_.v_p.data(), 1, weights_.v_p.size()), hidden_gradient);
  kernels::tanh_backward({centre_hidden_.view().row_range(first, R), hidden_gradient});
  kernels::multiply(hidden_gradient, W_p_, state_gradient, Into::kAdd);
}

void SoftAttention::accumulate(ConstMatrix state) {
  if (score_.projects_query) kernels::accumulate_outer(state, query_gradient_, gradient_.W_a);
  if (score_.has_v) kernels::add_column_sums(v_gradient_, gradient_.v_a);
  if (kind_ != WindowKind::kLocalP) return;
  kernels::accumulate_outer(state, centre_hidden_gradient_, gradient_.W_p);
  kernels::accumulate_outer(centre_hidden_.view(), centre_sum_.view(),
                            Matrix(gradient_.v_p.data(), gradient_.v_p.size(), 1));
}

void SoftAttention::keys_backward(ConstMatrix annotations, ConstMatrix keys_gradient, Matrix annotations_gradient) {
  kernels::accumulate_outer(annotations, keys_gradient, gradient_.U_a);
  if (score_.has_bias) kernels::add_column_sums(keys_gradient, gradient_.b_a);
  kernels::multiply_transposed(keys_gradient, weights_.U_a, annotations_gradient, Into::kAdd);
}

}  // namespace rnnsearch::layers
