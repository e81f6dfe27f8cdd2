// Soft attention with a choice of score functions, over all words of a sentence or over a window:
//   e_j = sum_a v_a phi(q_a, k_ja)    alpha = softmax(e) inside the window, 0 outside    c = sum_j alpha_j h_j
// With a centre p (Luong, Pham and Manning 2015, equation 10), alpha_j is then multiplied by
// exp(-(j + 1 - p)^2 / (2 deviation^2)). Positions count from 1, and the weights no longer sum to 1.
// R rows (one for each hypothesis or target sentence), A width of query and keys, C context width, B sentences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/kernels/precision.h"

namespace rnnsearch::kernels {

/// Describes how a score function makes q, k_j and v from the decoder state s [n] and the annotations h_j [C]. Each
/// score is a file in src/kernels/scores/ with its equation, its source and its phi; scores/list-inl.h lists them.
struct Score {
  std::string_view name;
  bool projects_query = false;  // q = s W_a with W_a [n, A]; otherwise q = s
  bool projects_keys = false;   // k_j = h_j U_a with U_a [C, A]; otherwise k_j = h_j
  bool joint = false;           // W_a and U_a are one matrix [n + C, A], which multiplies [s; h_j]
  bool has_bias = false;        // a parameter b_a [A] is added to k_j
  bool has_v = false;           // v is a parameter v_a [A]; otherwise every element of v is 1 ...
  bool scaled = false;          // ... or, if scaled, 1 / sqrt(A)

  /// Returns A. alignment: the width to use for scores that project both query and keys.
  constexpr std::size_t width(std::size_t n, std::size_t C, std::size_t alignment) const {
    if (!projects_keys) return C;
    return projects_query ? alignment : n;
  }
  /// Whether s and h_j must have the same width, because q and k_j are s and h_j themselves.
  constexpr bool needs_equal_widths() const { return !projects_query && !projects_keys; }
};

/// All scores.
std::span<const Score> scores();
/// Returns nullptr if there is no score of this name.
const Score* find_score(std::string_view name);

/// The source sentences, word by word: rows offsets[b] to offsets[b + 1] belong to sentence b.
struct AttentionMemory {
  std::span<const std::size_t> offsets;  // [B + 1]
  ConstMatrix annotations;               // [words, C] h_j
  ConstMatrix keys;                      // [words, A] k_j
  // For float, both may be given in bfloat16, which is then read in place of the float matrices (these may be empty).
  // Every step reads all of them, and they do not fit into the caches, so half the size takes nearly half the time.
  ConstMatrixView<BFloat16> rounded_annotations{}, rounded_keys{};
};

struct ScoredMemory : AttentionMemory {
  const Score* score;       // one of scores()
  std::span<const Real> v;  // [A]
};

/// The window of each row. Positions count from 0 in the sentence of the row.
struct Windows {
  std::span<const std::uint32_t> first, last;  // [R], last excluded, at least one word; both empty: all words
  std::span<const Real> centre;                // [R] p, where positions count from 1; empty: no centre
  Real deviation = 0;
};

/// A step of R rows: row i attends to sentence[i].
struct AttentionStep {
  const ScoredMemory& memory;
  std::span<const std::uint32_t> sentence;  // [R]
  const Windows& windows;
  ConstMatrix query;  // [R, A]
};

/// The maximum of e is subtracted before exp. Error of a score with tanh for float: an energy is within 1e-6 sum |v_a|
/// of the exact one, so the relative error of alpha is at most twice that, plus one rounding.
struct ScoredAttentionForward : AttentionStep {
  Matrix alpha;    // [R, Tx] out, with at least as many columns as the longest sentence has words; 0 outside a window
  Matrix context;  // [R, C] out
  // [R, Tx] or empty. In: the dropout factor of each weight; out: alpha times it, the weights of the context.
  Matrix dropped{};
};
void scored_attention_forward(const ScoredAttentionForward& args);

/// All gradients except that of the annotations, which annotations_backward computes for all steps at once. REQUIRES:
/// no sentence occurs twice in `sentence`.
struct ScoredAttentionBackward : AttentionStep {
  ConstMatrix alpha;                // [R, Tx] from the forward pass (phi is recomputed, not stored)
  ConstMatrix context_gradient;     // [R, C]
  Matrix query_gradient;            // [R, A] out
  Matrix keys_gradient;             // [words, A] ADDS
  Matrix v_gradient;                // [B, A] ADDS to the row of the sentence, so that threads do not conflict; or empty
  std::span<Real> centre_gradient;  // [R] out; empty without centres
  ConstMatrix dropped{};            // from the forward pass
  // [R, Tx] g_j, at least 0: adds the cost -sum_j g_j log alpha_j; or empty. Only without windows.
  ConstMatrix guide{};
};
void scored_attention_backward(const ScoredAttentionBackward& args);

/// The gradient of the annotations, which is the same for every score.
/// ADDS dL/dh_j = sum_i alpha_ij dL/dc_i over the steps i of each sentence, in their order. It handles all steps at
/// once, because a separate pass for each step would read and write the gradient of every annotation.
struct AnnotationsBackward {
  std::span<const std::size_t> source_offsets;  // [B + 1] AttentionMemory::offsets
  // The rows of sentence b in the matrices of all steps: rows[offsets[b]] to rows[offsets[b + 1]].
  std::span<const std::size_t> offsets;  // [B + 1]
  std::span<const std::uint32_t> rows;
  ConstMatrix alpha, context_gradient;  // [all rows, Tx], [all rows, C]
  Matrix annotations_gradient;          // [words, C]
};
void annotations_backward(const AnnotationsBackward& args);

}  // namespace rnnsearch::kernels
