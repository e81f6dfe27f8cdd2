#include "rnnsearch/kernels/scores.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scores.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/dispatch.h"
#include "kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

// The files of scores/ are included here. Each defines a type with `kScore` and `Form`; RNNSEARCH_SCORE numbers the
// types in the order of the list.
template <int number>
struct Listed;
constexpr int kFirst = __COUNTER__ + 1;
#define RNNSEARCH_SCORE(Name)           \
  template <>                           \
  struct Listed<__COUNTER__ - kFirst> { \
    using Type = Name;                  \
  };
#include "kernels/scores/forms-inl.h"
#include "kernels/scores/list-inl.h"
#undef RNNSEARCH_SCORE
constexpr int kCount = __COUNTER__ - kFirst;

/// A row of a step and the words that it attends to. Memory: the type of keys and annotations, Real or BFloat16.
template <class Memory>
struct AttendedWords {
  std::size_t column = 0, Tx = 0;        // the first column of alpha of the window, and the number of its words
  MatrixView<const Memory> annotations;  // [Tx, C]
  MatrixView<const Memory> keys;         // [Tx, A]
  const Real *v, *query;
  std::span<const Real> window;  // [Tx] factors of alpha after the softmax; empty: all are 1

  Real distance(const Windows& windows, std::size_t row, std::size_t j) const {
    return static_cast<Real>(column + j + 1) - windows.centre[row];
  }
};

template <class Form, class Memory>
void energies(const AttendedWords<Memory>& words, Real* energy) {
  const Real *const v = words.v, *const query = words.query;
  for (std::size_t j = 0; j < words.Tx; ++j) {
    const Memory* const key = words.keys.row(j);
    energy[j] = sum_of(words.keys.cols, [&](auto d, std::size_t i, auto sum) HWY_ATTR {
      return hn::MulAdd(hn::LoadU(d, v + i), Form::value(d, hn::LoadU(d, query + i), load(d, key + i)), sum);
    });
  }
}

/// Where the gradients of a row go. v may be nullptr.
struct EnergyGradients {
  const Real* energy;  // [Tx] in
  Real *query, *v;     // [A]
  Matrix keys;         // [Tx, A]
};

template <class Form, class Memory>
void energies_backward(const AttendedWords<Memory>& words, const EnergyGradients& gradients) {
  for_each(words.keys.cols, [&](auto d, std::size_t i) HWY_ATTR {
    const auto q = hn::LoadU(d, words.query + i), v = hn::LoadU(d, words.v + i);
    auto dq = hn::Zero(d), dv = hn::Zero(d);
    for (std::size_t j = 0; j < words.Tx; ++j) {
      const auto k = load(d, words.keys.row(j) + i);
      const auto phi = Form::value(d, q, k);
      auto by_q = q, by_k = q;
      Form::derivatives(d, q, k, phi, by_q, by_k);
      const auto de = hn::Set(d, gradients.energy[j]), g = hn::Mul(de, v);
      Real* dk = gradients.keys.row(j) + i;
      hn::StoreU(hn::MulAdd(g, by_k, hn::LoadU(d, dk)), d, dk);
      dq = hn::MulAdd(g, by_q, dq);
      dv = hn::MulAdd(de, phi, dv);
    }
    hn::StoreU(dq, d, gradients.query + i);
    if (gradients.v) hn::StoreU(hn::Add(dv, hn::LoadU(d, gradients.v + i)), d, gradients.v + i);
  });
}

template <class Memory>
struct Energies {
  void (*forward)(const AttendedWords<Memory>& words, Real* energy);
  void (*backward)(const AttendedWords<Memory>& words, const EnergyGradients& gradients);
};

template <int... numbers>
constexpr auto scores_of(std::integer_sequence<int, numbers...>) {
  return std::array{Listed<numbers>::Type::kScore...};
}
template <class Memory, int... numbers>
constexpr auto energies_of(std::integer_sequence<int, numbers...>) {
  return std::array{Energies<Memory>{energies<typename Listed<numbers>::Type::Form, Memory>,
                                     energies_backward<typename Listed<numbers>::Type::Form, Memory>}...};
}
constexpr auto kScores = scores_of(std::make_integer_sequence<int, kCount>());
static_assert(std::all_of(kScores.begin(), kScores.end(), [](const Score& s) {
  return (s.projects_keys || !s.has_bias) && (s.projects_query || !s.joint) && (s.projects_keys || !s.joint) &&
         !(s.has_v && s.scaled);
}));
template <class Memory>
const Energies<Memory>& energies_of(const ScoredMemory& memory) {
  static constexpr auto kEnergies = energies_of<Memory>(std::make_integer_sequence<int, kCount>());
  return kEnergies[static_cast<std::size_t>(memory.score - scores().data())];
}

template <class Memory>
AttendedWords<Memory> attended_words(const AttentionStep& step, MatrixView<const Memory> annotations,
                                     MatrixView<const Memory> keys, std::size_t row) {
  const Windows& windows = step.windows;
  const std::uint32_t sentence = step.sentence[row];
  const std::size_t begin = step.memory.offsets[sentence], end = step.memory.offsets[sentence + 1];
  const std::size_t column = windows.first.empty() ? 0 : windows.first[row];
  const std::size_t last = windows.first.empty() ? end - begin : windows.last[row];
  assert(column < last && last <= end - begin);
  AttendedWords<Memory> words{column,
                              last - column,
                              annotations.row_range(begin + column, last - column),
                              keys.row_range(begin + column, last - column),
                              step.memory.v.data(),
                              step.query.row(row),
                              {}};
  if (windows.centre.empty()) return words;
  thread_local std::vector<Real> factors;
  factors.resize(words.Tx);
  for (std::size_t j = 0; j < words.Tx; ++j) {
    const Real distance = words.distance(windows, row, j) / windows.deviation;
    factors[j] = -distance * distance / 2;
  }
  for_each(words.Tx, [&](auto d, std::size_t j)
                         HWY_ATTR { hn::StoreU(exp_of(d, hn::LoadU(d, factors.data() + j)), d, factors.data() + j); });
  words.window = factors;
  return words;
}

template <class Memory>
void forward_row(const ScoredAttentionForward& args, const AttendedWords<Memory>& words, std::size_t row) {
  const std::size_t Tx = words.Tx;
  std::fill_n(args.alpha.row(row), args.alpha.cols, Real{0});
  Real* const alpha = args.alpha.row(row) + words.column;
  energies_of<Memory>(args.memory).forward(words, alpha);
  Real largest = -std::numeric_limits<Real>::infinity();
  for (std::size_t j = 0; j < Tx; ++j) largest = std::max(largest, alpha[j]);
  for_each(Tx, [&](auto d, std::size_t j) HWY_ATTR {
    hn::StoreU(exp_of(d, hn::Sub(hn::LoadU(d, alpha + j), hn::Set(d, largest))), d, alpha + j);
  });
  Real sum = 0;
  for (std::size_t j = 0; j < Tx; ++j) sum += alpha[j];
  for (std::size_t j = 0; j < Tx; ++j) alpha[j] /= sum;
  for (std::size_t j = 0; j < words.window.size(); ++j) alpha[j] *= words.window[j];
  const Real* weights = alpha;
  if (args.dropped.data) {
    Real *const all = args.dropped.row(row), *const dropped = all + words.column;
    std::fill(all, dropped, Real{0});
    for (std::size_t j = 0; j < Tx; ++j) dropped[j] *= alpha[j];
    std::fill(dropped + Tx, all + args.dropped.cols, Real{0});
    weights = dropped;
  }
  Real* const context = args.context.row(row);
  for_each(words.annotations.cols, [&](auto d, std::size_t i) HWY_ATTR {
    auto c = hn::Zero(d);
    for (std::size_t j = 0; j < Tx; ++j) {
      c = hn::MulAdd(hn::Set(d, weights[j]), load(d, words.annotations.row(j) + i), c);
    }
    hn::StoreU(c, d, context + i);
  });
}

/// ADDS to energy_gradient [Tx] the gradient of -sum_j guide_j log alpha_j by the energies, of which alpha is the
/// softmax: alpha_j sum(guide) - guide_j. Nothing is divided by alpha.
void add_guide(std::size_t Tx, const Real* alpha, const Real* guide, std::span<Real> energy_gradient) {
  Real sum = 0;
  for (std::size_t j = 0; j < Tx; ++j) sum += guide[j];
  if (sum == 0) return;
  for (std::size_t j = 0; j < Tx; ++j) energy_gradient[j] += alpha[j] * sum - guide[j];
}

template <class Memory>
void backward_row(const ScoredAttentionBackward& args, const AttendedWords<Memory>& words, std::size_t row) {
  const std::size_t Tx = words.Tx;
  thread_local std::vector<Real> energy_gradient, weight_gradient;
  energy_gradient.resize(Tx);
  weight_gradient.resize(Tx);
  const Real* const alpha = args.alpha.row(row) + words.column;
  const Real* const weights = args.dropped.data ? args.dropped.row(row) + words.column : alpha;
  const Real* const context_gradient = args.context_gradient.row(row);
  // The context's weights are w = mask o window o softmax(e), so that dL/de = w o dL/dw - softmax(e) sum(w o dL/dw).
  Real sum = 0;
  for (std::size_t j = 0; j < Tx; ++j) {
    const Memory* h = words.annotations.row(j);
    const Real by_weight = sum_of(words.annotations.cols, [&](auto d, std::size_t i, auto terms) HWY_ATTR {
      return hn::MulAdd(hn::LoadU(d, context_gradient + i), load(d, h + i), terms);
    });
    weight_gradient[j] = weights[j] * by_weight;
    sum += weight_gradient[j];
  }
  for (std::size_t j = 0; j < Tx; ++j) {
    const Real softmax = words.window.empty() ? alpha[j] : alpha[j] / words.window[j];
    energy_gradient[j] = weight_gradient[j] - softmax * sum;
  }
  if (args.guide.data) add_guide(Tx, alpha, args.guide.row(row), energy_gradient);
  const std::uint32_t sentence = args.sentence[row];
  energies_of<Memory>(args.memory)
      .backward(words, {energy_gradient.data(), args.query_gradient.row(row),
                        args.v_gradient.data ? args.v_gradient.row(sentence) : nullptr,
                        args.keys_gradient.row_range(args.memory.offsets[sentence] + words.column, Tx)});
  const Windows& windows = args.windows;
  if (windows.centre.empty()) return;
  for (std::size_t j = 0; j < Tx; ++j) weight_gradient[j] *= words.distance(windows, row, j);
  Real by_centre = 0;
  for (std::size_t j = 0; j < Tx; ++j) by_centre += weight_gradient[j];
  args.centre_gradient[row] = by_centre / (windows.deviation * windows.deviation);
}

// Calls work(words, row) for these rows, with the rounded matrices if they are given.
template <class Work>
void for_words_of_rows(const AttentionStep& step, std::size_t first, std::size_t last, const Work& work) {
  const ScoredMemory& memory = step.memory;
  for (std::size_t row = first; row < last; ++row) {
#ifndef RNNSEARCH_DOUBLE
    if (memory.rounded_keys.rows > 0) {
      work(attended_words(step, memory.rounded_annotations, memory.rounded_keys, row), row);
      continue;
    }
#endif
    work(attended_words(step, memory.annotations, memory.keys, row), row);
  }
}

void scored_attention_forward(const ScoredAttentionForward& args, std::size_t first, std::size_t last) {
  for_words_of_rows(args, first, last, [&](const auto& words, std::size_t row) { forward_row(args, words, row); });
}

void scored_attention_backward(const ScoredAttentionBackward& args, std::size_t first, std::size_t last) {
  for_words_of_rows(args, first, last, [&](const auto& words, std::size_t row) { backward_row(args, words, row); });
}

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

std::span<const Score> scores() { return HWY_NAMESPACE::kScores; }

const Score* find_score(std::string_view name) {
  const auto found = std::find_if(scores().begin(), scores().end(), [&](const Score& s) { return s.name == name; });
  return found == scores().end() ? nullptr : &*found;
}

RNNSEARCH_ROW_KERNEL(scored_attention_forward, ScoredAttentionForward, args.sentence.size(), 1)
RNNSEARCH_ROW_KERNEL(scored_attention_backward, ScoredAttentionBackward, args.sentence.size(), 1)
RNNSEARCH_ROW_KERNEL(annotations_backward, AnnotationsBackward, args.source_offsets.size() - 1, 1)

}  // namespace rnnsearch::kernels
#endif
