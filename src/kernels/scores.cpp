#include "rnnsearch/kernels/scores.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scores.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/row_tables.h"
#include "kernels/scores_rows.h"
#include "kernels/vector-inl.h"
#include "rnnsearch/base/parallel.h"

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

template <class Form, class T, class Memory>
void energies(const ScoreRow<T, Memory>& row, T* energy) {
  for (std::size_t j = 0; j < row.Tx; ++j) {
    const Memory* key = row.keys + j * row.keys_stride;
    energy[j] = sum_of<T>(row.A, [&](auto d, std::size_t i) HWY_ATTR {
      return hn::Mul(hn::LoadU(d, row.v + i), Form::value(d, hn::LoadU(d, row.query + i), load(d, key + i)));
    });
  }
}

template <class Form, class T, class Memory>
void energies_backward(const ScoreRow<T, Memory>& row, const T* energy_gradient, T* query_gradient, T* keys_gradient,
                       std::size_t keys_gradient_stride, T* v_gradient) {
  for_each<T>(row.A, [&](auto d, std::size_t i) HWY_ATTR {
    const auto q = hn::LoadU(d, row.query + i), v = hn::LoadU(d, row.v + i);
    auto dq = hn::Zero(d), dv = hn::Zero(d);
    for (std::size_t j = 0; j < row.Tx; ++j) {
      const auto k = load(d, row.keys + j * row.keys_stride + i);
      const auto phi = Form::value(d, q, k);
      auto by_q = q, by_k = q;
      Form::derivatives(d, q, k, phi, by_q, by_k);
      const auto de = hn::Set(d, energy_gradient[j]), g = hn::Mul(de, v);
      T* dk = keys_gradient + j * keys_gradient_stride + i;
      hn::StoreU(hn::MulAdd(g, by_k, hn::LoadU(d, dk)), d, dk);
      dq = hn::MulAdd(g, by_q, dq);
      dv = hn::MulAdd(de, phi, dv);
    }
    hn::StoreU(dq, d, query_gradient + i);
    if (v_gradient) hn::StoreU(hn::Add(dv, hn::LoadU(d, v_gradient + i)), d, v_gradient + i);
  });
}

template <class T, class Memory>
struct Energies {
  void (*forward)(const ScoreRow<T, Memory>& row, T* energy);
  void (*backward)(const ScoreRow<T, Memory>& row, const T* energy_gradient, T* query_gradient, T* keys_gradient,
                   std::size_t keys_gradient_stride, T* v_gradient);
};

template <int... numbers>
constexpr auto scores_of(std::integer_sequence<int, numbers...>) {
  return std::array{Listed<numbers>::Type::kScore...};
}
template <class T, class Memory, int... numbers>
constexpr auto energies_of(std::integer_sequence<int, numbers...>) {
  return std::array{Energies<T, Memory>{energies<typename Listed<numbers>::Type::Form, T, Memory>,
                                        energies_backward<typename Listed<numbers>::Type::Form, T, Memory>}...};
}
constexpr auto kScores = scores_of(std::make_integer_sequence<int, kCount>());
static_assert(std::all_of(kScores.begin(), kScores.end(), [](const Score& s) {
  return (s.projects_keys || !s.has_bias) && (s.projects_query || !s.joint) && (s.projects_keys || !s.joint) &&
         !(s.has_v && s.scaled);
}));
template <class T, class Memory>
constexpr auto kEnergies = energies_of<T, Memory>(std::make_integer_sequence<int, kCount>());

template <class T, class Memory>
void score_forward_row(const ScoreRow<T, Memory>& row, T* alpha, T* dropped, T* context) {
  kEnergies<T, Memory>[row.score].forward(row, alpha);
  T largest = -std::numeric_limits<T>::infinity();
  for (std::size_t j = 0; j < row.Tx; ++j) largest = std::max(largest, alpha[j]);
  for_each<T>(row.Tx, [&](auto d, std::size_t j) HWY_ATTR {
    hn::StoreU(exp_of(d, hn::Sub(hn::LoadU(d, alpha + j), hn::Set(d, largest))), d, alpha + j);
  });
  T sum = 0;
  for (std::size_t j = 0; j < row.Tx; ++j) sum += alpha[j];
  for (std::size_t j = 0; j < row.Tx; ++j) alpha[j] /= sum;
  if (row.window) {
    for (std::size_t j = 0; j < row.Tx; ++j) alpha[j] *= row.window[j];
  }
  const T* weights = alpha;
  if (dropped) {
    for (std::size_t j = 0; j < row.Tx; ++j) dropped[j] *= alpha[j];
    weights = dropped;
  }
  for_each<T>(row.C, [&](auto d, std::size_t i) HWY_ATTR {
    auto c = hn::Zero(d);
    for (std::size_t j = 0; j < row.Tx; ++j) {
      c = hn::MulAdd(hn::Set(d, weights[j]), load(d, row.annotations + j * row.annotations_stride + i), c);
    }
    hn::StoreU(c, d, context + i);
  });
}

template <class T, class Memory>
void score_backward_row(const ScoreRow<T, Memory>& row, const T* alpha, const T* guide, const T* dropped,
                        const T* context_gradient, T* energy_gradient, T* weight_gradient, T* query_gradient,
                        T* keys_gradient, std::size_t keys_gradient_stride, T* v_gradient) {
  // The context's weights are w = mask o window o softmax(e), so that dL/de = w o dL/dw - softmax(e) sum(w o dL/dw).
  T sum = 0;
  for (std::size_t j = 0; j < row.Tx; ++j) {
    const Memory* h = row.annotations + j * row.annotations_stride;
    const T by_weight = sum_of<T>(row.C, [&](auto d, std::size_t i) HWY_ATTR {
      return hn::Mul(hn::LoadU(d, context_gradient + i), load(d, h + i));
    });
    weight_gradient[j] = dropped[j] * by_weight;
    sum += weight_gradient[j];
  }
  for (std::size_t j = 0; j < row.Tx; ++j) {
    const T softmax = row.window ? alpha[j] / row.window[j] : alpha[j];
    energy_gradient[j] = weight_gradient[j] - softmax * sum;
  }
  if (guide) add_guide(row.Tx, alpha, guide, energy_gradient);
  kEnergies<T, Memory>[row.score].backward(row, energy_gradient, query_gradient, keys_gradient, keys_gradient_stride,
                                           v_gradient);
}

template <class T, class Memory>
constexpr ScoreRows<T, Memory> kScoreRows = {score_forward_row<T, Memory>, score_backward_row<T, Memory>};
RNNSEARCH_ROW_TABLE(float_scores, kScoreRows<float, float>)
RNNSEARCH_ROW_TABLE(rounded_scores, kScoreRows<float, BFloat16>)
RNNSEARCH_ROW_TABLE(double_scores, kScoreRows<double, double>)

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rnnsearch::kernels {

std::span<const Score> scores() {
  return HWY_NAMESPACE::kScores;
}

const Score* find_score(std::string_view name) {
  const auto found = std::find_if(scores().begin(), scores().end(), [&](const Score& s) { return s.name == name; });
  return found == scores().end() ? nullptr : &*found;
}

RNNSEARCH_CHOOSE_ROW_TABLE(float_scores, ScoreRows<float, float>)
RNNSEARCH_CHOOSE_ROW_TABLE(rounded_scores, ScoreRows<float, BFloat16>)
RNNSEARCH_CHOOSE_ROW_TABLE(double_scores, ScoreRows<double, double>)

namespace {

// Calls work(annotations, keys) with the rounded matrices if they are given, otherwise with the float ones.
template <class Real, class Work>
void with_matrices(const ScoredMemory<Real>& memory, const Work& work) {
  if constexpr (std::is_same_v<Real, float>) {
    if (memory.rounded_keys.rows > 0) return work(memory.rounded_annotations, memory.rounded_keys);
  }
  work(memory.annotations, memory.keys);
}

// The words that row `i` attends to. `room` is memory for the factors of the window.
template <class Real, class Memory>
struct AttendedWords {
  std::size_t first_word;  // the first word of the window, as an index into all words
  std::size_t column;      // the column of alpha of that word
  ScoreRow<Real, Memory> row;

  AttendedWords(const ScoredMemory<Real>& memory, ConstMatrixView<Memory> annotations, ConstMatrixView<Memory> keys,
                std::span<const std::uint32_t> sentence, const Windows<Real>& windows, ConstMatrixView<Real> query,
                std::size_t i, std::vector<Real>& room) {
    const std::size_t begin = memory.offsets[sentence[i]], end = memory.offsets[sentence[i] + 1];
    column = windows.first.empty() ? 0 : windows.first[i];
    const std::size_t last = windows.first.empty() ? end - begin : windows.last[i];
    assert(column < last && last <= end - begin);
    first_word = begin + column;
    row = {static_cast<std::size_t>(memory.score - scores().data()),
           last - column,
           keys.cols,
           annotations.cols,
           keys.row(first_word),
           keys.stride,
           annotations.row(first_word),
           annotations.stride,
           memory.v.data(),
           query.row(i),
           nullptr};
    if (windows.centre.empty()) return;
    room.resize(row.Tx);
    for (std::size_t j = 0; j < row.Tx; ++j) {
      const Real distance = distance_of(windows, i, j) / windows.deviation;
      room[j] = std::exp(-distance * distance / 2);
    }
    row.window = room.data();
  }
  Real distance_of(const Windows<Real>& windows, std::size_t i, std::size_t j) const {
    return static_cast<Real>(column + j + 1) - windows.centre[i];
  }
};

}  // namespace

template <class Real>
void scored_attention_forward(const ScoredMemory<Real>& memory, std::span<const std::uint32_t> sentence,
                              const Windows<Real>& windows, ConstMatrixView<Real> query, MatrixView<Real> alpha,
                              MatrixView<Real> context, MatrixView<Real> dropped) {
  assert(query.rows == sentence.size() && alpha.rows == query.rows && context.rows == query.rows);
  with_matrices(memory, [&]<class Memory>(ConstMatrixView<Memory> annotations, ConstMatrixView<Memory> keys) {
    parallel_for(sentence.size(), [&](std::size_t i) {
      thread_local std::vector<Real> room;
      const AttendedWords<Real, Memory> seen(memory, annotations, keys, sentence, windows, query, i, room);
      std::fill_n(alpha.row(i), alpha.cols, Real{0});
      if (dropped.data) {
        std::fill_n(dropped.row(i), seen.column, Real{0});
        std::fill(dropped.row(i) + seen.column + seen.row.Tx, dropped.row(i) + dropped.cols, Real{0});
      }
      row_table<ScoreRows<Real, Memory>>().forward(
          seen.row, alpha.row(i) + seen.column, dropped.data ? dropped.row(i) + seen.column : nullptr, context.row(i));
    });
  });
}

template <class Real>
void scored_attention_backward(const ScoredMemory<Real>& memory, std::span<const std::uint32_t> sentence,
                               const Windows<Real>& windows, const ScoredAttentionBackward<Real>& of) {
  assert(!of.guide.data || windows.first.empty());
  with_matrices(memory, [&]<class Memory>(ConstMatrixView<Memory> annotations, ConstMatrixView<Memory> keys) {
    parallel_for(sentence.size(), [&](std::size_t i) {
      thread_local std::vector<Real> room, energy_gradient, weight_gradient;
      const AttendedWords<Real, Memory> seen(memory, annotations, keys, sentence, windows, of.query, i, room);
      energy_gradient.resize(seen.row.Tx);
      weight_gradient.resize(seen.row.Tx);
      const ConstMatrixView<Real>& weights = of.dropped.data ? of.dropped : of.alpha;
      row_table<ScoreRows<Real, Memory>>().backward(
          seen.row, of.alpha.row(i) + seen.column, of.guide.data ? of.guide.row(i) : nullptr,
          weights.row(i) + seen.column, of.context_gradient.row(i), energy_gradient.data(), weight_gradient.data(),
          of.query_gradient.row(i), of.keys_gradient.row(seen.first_word), of.keys_gradient.stride,
          of.v_gradient.data ? of.v_gradient.row(sentence[i]) : nullptr);
      if (windows.centre.empty()) return;
      Real sum = 0;
      for (std::size_t j = 0; j < seen.row.Tx; ++j) sum += weight_gradient[j] * seen.distance_of(windows, i, j);
      of.centre_gradient[i] = sum / (windows.deviation * windows.deviation);
    });
  });
}

#define RNNSEARCH_INSTANTIATE(Real)                                                                     \
  template void scored_attention_forward(const ScoredMemory<Real>&, std::span<const std::uint32_t>,     \
                                         const Windows<Real>&, ConstMatrixView<Real>, MatrixView<Real>, \
                                         MatrixView<Real>, MatrixView<Real>);                           \
  template void scored_attention_backward(const ScoredMemory<Real>&, std::span<const std::uint32_t>,    \
                                          const Windows<Real>&, const ScoredAttentionBackward<Real>&);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::kernels
#endif
