#include "rnnsearch/layers/shortlist_output.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/kernels/softmax.h"

namespace rnnsearch::layers {
namespace {

constexpr Real kNever = -std::numeric_limits<Real>::infinity();

/// [H, U] the columns of W_o of these words, packed.
kernels::PackedMatrix packed_columns(const OutputWeights& weights, std::span<const WordId> words,
                                     kernels::Buffer<Real>& gathered) {
  const bool tied = weights.is_tied();
  const auto to = tied ? gathered.shape(words.size(), weights.E.cols) : gathered.shape(weights.W_o.rows, words.size());
  gather_output(weights, words, to);
  kernels::PackedMatrix packed;
  tied ? packed.pack_transposed(to) : packed.pack(to);
  return packed;
}

}  // namespace

void gather_output(const OutputWeights& from, std::span<const WordId> words, Matrix to) {
  if (from.is_tied()) return kernels::gather_rows(from.E, words, to);
  parallel_for(to.rows, [&](std::size_t k) {
    const Real* const row = from.W_o.row(k);
    std::ranges::transform(words, to.row(k), [&](WordId word) { return row[word]; });
  });
}

ShortlistOutput::ShortlistOutput(const OutputWeights& weights, const Sentences& lists, std::size_t together)
    : together_(together), vocabulary_(weights.b_w.size()), lists_(lists) {
  assert(together > 0);
  for (const WordId word : lists_.words) bias_.push_back(weights.b_w[word]);
  kernels::Buffer<Real> gathered;
  for (std::size_t first = 0; first < lists_.size(); first += together_) {
    const std::size_t end = lists_.offsets[std::min(first + together_, lists_.size())];
    const auto words = std::span(lists_.words).subspan(lists_.offsets[first], end - lists_.offsets[first]);
    std::vector<WordId> all(words.begin(), words.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (const WordId word : words) {
      columns_.push_back(static_cast<std::uint32_t>(std::lower_bound(all.begin(), all.end(), word) - all.begin()));
    }
    unions_.push_back(packed_columns(weights, all, gathered));
  }
}

template <class Use>
void ShortlistOutput::for_each_row(ConstMatrix t, std::span<const std::uint32_t> sentence, const Use& use) {
  assert(t.rows == sentence.size() && std::is_sorted(sentence.begin(), sentence.end()));
  std::size_t longest = 0;
  for (const std::uint32_t b : sentence) longest = std::max(longest, lists_.length(b));
  const auto scores = scores_.shape(t.rows, longest);
  for (std::size_t first = 0, end = 0; first < t.rows; first = end) {
    const std::size_t group = sentence[first] / together_;
    while (end < t.rows && sentence[end] / together_ == group) ++end;
    const kernels::PackedMatrix& W_o = unions_[group];
    const auto logits = logits_.shape(end - first, W_o.cols());
    kernels::multiply(t.row_range(first, end - first), W_o, logits);
    parallel_for(end - first, [&](std::size_t i) {
      const std::size_t b = sentence[first + i], begin = lists_.offsets[b];
      const std::span own(scores.row(first + i), lists_.length(b));
      for (std::size_t k = 0; k < own.size(); ++k) own[k] = logits(i, columns_[begin + k]);
      kernels::log_softmax(std::span<const Real>(bias_).subspan(begin, own.size()), own);
      use(first + i, lists_[b], own);
    });
  }
}

void ShortlistOutput::log_probabilities(ConstMatrix t, std::span<const std::uint32_t> sentence,
                                        Matrix log_probabilities) {
  for_each_row(t, sentence, [&](std::size_t i, std::span<const WordId> list, std::span<const Real> own) {
    Real* const row = log_probabilities.row(i);
    std::fill_n(row, log_probabilities.cols, kNever);
    for (std::size_t k = 0; k < list.size(); ++k) row[list[k]] = own[k];
  });
}

void ShortlistOutput::top_words(ConstMatrix t, std::span<const std::uint32_t> sentence, kernels::TopWords& top) {
  top.shape(t.rows, vocabulary_);
  for_each_row(t, sentence, [&](std::size_t i, std::span<const WordId> list, std::span<const Real> own) {
    kernels::select_top_words(own, i, top);
    for (std::size_t k = 0; k < top.lengths[i]; ++k) {
      auto& entry = top.entries[i * top.limit + k];
      entry.word = list[entry.word];
    }
  });
  top.look_up = [this, sentences = std::vector(sentence.begin(), sentence.end())](const auto& words) {
    for (const kernels::WordOfRow& one : words) {
      const auto list = lists_[sentences[one.row]];
      const auto found = std::lower_bound(list.begin(), list.end(), one.word);
      const bool is_listed = found != list.end() && *found == one.word;
      *one.log_probability =
          is_listed ? scores_.view()(one.row, static_cast<std::size_t>(found - list.begin())) : kNever;
    }
  };
}

}  // namespace rnnsearch::layers
