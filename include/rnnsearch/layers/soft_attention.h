// Attention with a choice of score functions, over the whole sentence or a window: the kernels of kernels/scores.h,
// together with the projections and, for local-p, the prediction of the centre of the window.
//   q = s W_a or s    k_j = h_j U_a (+ b_a) or h_j    e_j = sum_a v_a phi(q_a, k_ja)
// R rows of a step, n width of s, C width of h, A width of q and k, B sentences.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/dropout.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/scores.h"
#include "rnnsearch/layers/kinds.h"

namespace rnnsearch::layers {

struct SoftAttentionWeights {
  Matrix W_a;           // [n, A] or empty
  Matrix U_a;           // [C, A] or empty
  std::span<Real> b_a;  // [A] or empty
  std::span<Real> v_a;  // [A] or empty
  Matrix W_p;           // [n, n'] for local-p, otherwise empty
  std::span<Real> v_p;  // [n'] for local-p, otherwise empty
};

/// Stores the results of its forward pass that its backward pass needs, by row, like a Cell.
class SoftAttention {
 public:
  /// score: one of kernels::scores(). D: half the width of a window, at least 1. A: kernels::Score::width for these
  /// widths.
  SoftAttention(const kernels::Score& score, WindowKind kind, std::size_t D, std::size_t A,
                const SoftAttentionWeights& weights, const SoftAttentionWeights& gradient);

  bool has_keys() const { return score_.projects_keys; }
  void keys(ConstMatrix annotations, Matrix keys) const;

  /// Packs the weights into memory of `frame`, which must outlive the steps. Call it before the steps whenever weights
  /// have changed or begin_backward was called.
  void pack(kernels::Scratch::Frame& frame);
  /// Call it before the steps. rows: the target words of all steps. longest: the longest source sentence. dropout: the
  /// mask of the attention weights for `rows` rows, where a unit is a source word; the data that it views must outlive
  /// the backward pass.
  void begin(std::size_t rows, std::size_t longest, const kernels::DropoutMask& dropout = {});
  /// memory: its keys are those of `keys`, or the annotations if there are none. state [R, n]; positions [R]: the
  /// number of words written so far, used by local-m; context [R, C] out.
  void forward(std::size_t first, const kernels::AttentionMemory& memory, std::span<const std::uint32_t> sentence,
               ConstMatrix state, std::span<const std::uint32_t> positions, Matrix context);
  /// [rows, longest]; 0 outside the windows.
  ConstMatrix alpha() const { return alpha_.view(); }
  /// The weights from which the contexts are computed: alpha, after dropout if there is any.
  ConstMatrix context_weights() const { return dropout_.drops() ? dropped_.view() : alpha_.view(); }

  /// Call it before the steps of the backward pass. It undoes `pack`. frame: memory until `accumulate`.
  /// guide: see kernels::ScoredAttentionBackward, for the rows of all steps; only with global attention. It must
  /// outlive the backward pass.
  void begin_backward(std::size_t sentences, kernels::Scratch::Frame& frame, ConstMatrix guide = {});
  /// ADDS to state_gradient [R, n] and keys_gradient [words, A]. REQUIRES: no sentence occurs twice in `sentence`.
  void backward(std::size_t first, const kernels::AttentionMemory& memory, std::span<const std::uint32_t> sentence,
                ConstMatrix context_gradient, Matrix state_gradient, Matrix keys_gradient);
  /// Call it after the steps, with the state [rows, n] of all of them. ADDS to the gradient of the weights.
  void accumulate(ConstMatrix state);
  /// Call it after the steps if has_keys(). ADDS to the gradient of the weights and to annotations_gradient [words, C].
  void keys_backward(ConstMatrix annotations, ConstMatrix keys_gradient, Matrix annotations_gradient);

 private:
  kernels::ScoredMemory scored(const kernels::AttentionMemory& memory) const;
  kernels::Windows windows(std::size_t first, std::size_t count) const;
  Matrix dropped(std::size_t first, std::size_t count) const {
    return dropout_.drops() ? dropped_.view().row_range(first, count) : Matrix();
  }
  void place_windows(std::size_t first, const kernels::AttentionMemory& memory, std::span<const std::uint32_t> sentence,
                     ConstMatrix state, std::span<const std::uint32_t> positions);

  const kernels::Score& score_;
  WindowKind kind_;
  std::size_t D_, A_;
  SoftAttentionWeights weights_, gradient_;
  kernels::PackedMatrix W_a_, W_p_;                    // transposed in the backward pass
  std::vector<Real> ones_;                             // v for scores without v_a
  std::vector<std::uint32_t> first_word_, last_word_;  // the local window of each row
  std::vector<Real> centre_;
  kernels::DropoutMask dropout_;
  ConstMatrix guide_;
  kernels::Buffer<Real> query_, alpha_, dropped_, centre_hidden_, centre_sum_;
  Matrix query_gradient_, v_gradient_, centre_hidden_gradient_;
};

}  // namespace rnnsearch::layers
