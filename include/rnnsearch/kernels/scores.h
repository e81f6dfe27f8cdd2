// Soft attention with the score of one's choice, over all words of a sentence or over a window of them:
//   e_j = sum_a v_a phi(q_a, k_ja)    alpha = softmax(e) inside the window, 0 outside    c = sum_j alpha_j h_j
// With a centre p (Luong, Pham and Manning 2015, equation 10) alpha_j is then multiplied by
// exp(-(j + 1 - p)^2 / (2 deviation^2)): words count from 1, and the weights no longer sum to 1.
// attention.h is the same for phi = tanh(q + k) without window, and faster.
// R rows (one a hypothesis or target sentence), A width of query and keys, C context width. Words lie sentence by
// sentence: rows offsets[b] to offsets[b + 1] belong to sentence b.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

/// How q, k_j and v are made of the decoder's state s [n] and the annotations h_j [C]. Each score is one file of
/// src/kernels/scores/, with its equation, its source and its phi; scores/list-inl.h lists them.
struct Score {
  std::string_view name;
  bool projects_query = false;  // q = s W_a, W_a [n, A]; else q = s
  bool projects_keys = false;   // k_j = h_j U_a, U_a [C, A]; else k_j = h_j
  bool joint = false;           // W_a and U_a are one matrix [n + C, A], which multiplies [s; h_j]
  bool has_bias = false;        // b_a [A], added to k_j
  bool has_v = false;           // v is a parameter, v_a [A]; else all of it is 1,
  bool scaled = false;          // or 1 / sqrt(A)

  /// A. alignment: what was chosen for scores that project both.
  constexpr std::size_t width(std::size_t n, std::size_t C, std::size_t alignment) const {
    if (!projects_keys) return C;
    return projects_query ? alignment : n;
  }
  /// q and k_j are s and h_j themselves, which are then of one width.
  constexpr bool needs_equal_widths() const { return !projects_query && !projects_keys; }
};

/// All there are.
std::span<const Score> scores();
/// nullptr: there is none of this name.
const Score* find_score(std::string_view name);

template <class Real>
struct ScoredMemory {
  const Score* score;                    // one of scores()
  std::span<const std::size_t> offsets;  // [B + 1]
  ConstMatrixView<Real> annotations;     // [words, C] h_j
  ConstMatrixView<Real> keys;            // [words, A] k_j
  std::span<const Real> v;               // [A]
};

/// Of each row. The row's sentence has the words from 0 on.
template <class Real>
struct Windows {
  std::span<const std::uint32_t> first, last;  // [R], last excluded, at least one word; both empty: all words
  std::span<const Real> centre;                // [R] p; empty: none
  Real deviation = 0;
};

/// alpha has at least the longest sentence's columns; columns outside the window are exactly 0. The maximum of e is
/// subtracted before exp.
/// dropped (as alpha, or empty data): in: what dropout multiplies each weight by; out: alpha times that, of which the
/// context is made.
template <class Real>
void scored_attention_forward(const ScoredMemory<Real>& memory, std::span<const std::uint32_t> sentence,
                              const Windows<Real>& windows, ConstMatrixView<Real> query, MatrixView<Real> alpha,
                              MatrixView<Real> context, MatrixView<Real> dropped = {});

template <class Real>
struct ScoredAttentionBackward {
  ConstMatrixView<Real> query, alpha;      // [R, A], [R, Tx] of the forward pass
  ConstMatrixView<Real> context_gradient;  // [R, C]
  MatrixView<Real> query_gradient;         // [R, A] out
  MatrixView<Real> keys_gradient;          // [words, A] ADDS
  MatrixView<Real> v_gradient;             // [B, A] ADDS to the row of the sentence; or empty: not wanted
  std::span<Real> centre_gradient;         // [R] out; empty without centres
  ConstMatrixView<Real> dropped{};         // of the forward pass
};
/// All but the annotations' gradient, which annotations_backward of attention.h computes for all steps at once.
/// REQUIRES: no sentence occurs twice in `sentence`.
template <class Real>
void scored_attention_backward(const ScoredMemory<Real>& memory, std::span<const std::uint32_t> sentence,
                               const Windows<Real>& windows, const ScoredAttentionBackward<Real>& of);

}  // namespace rnnsearch::kernels
