#include "train/summed_rows.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "rnnsearch/base/ceil_div.h"
#include "rnnsearch/base/parallel.h"

namespace rnnsearch::train {
namespace {

constexpr std::size_t kBits = 64;
constexpr std::size_t kPiece = std::size_t{1} << 14;  // floats that a thread copies at a time

bool has_empty_sentence(const Sentences& sentences) {
  return std::adjacent_find(sentences.offsets.begin(), sentences.offsets.end()) != sentences.offsets.end();
}

}  // namespace

SummedRows::SummedRows(std::size_t table_rows, std::size_t cols) : cols_(cols), bits_(ceil_div(table_rows, kBits)) {}

void SummedRows::begin_union(const comm::Communicator& communicator, const OwnGradient& table, const Sentences& source,
                             const Sentences& target, const model::ModelOptions& options) {
  const std::size_t table_rows = table.rows.table_rows();
  std::fill(bits_.begin(), bits_.end(), 0);
  const auto touch = [&](WordId word) { bits_[word / kBits] |= std::uint64_t{1} << word % kBits; };
  for (const auto& [reads, sentences] : {std::pair(table.source, &source), {table.target, &target}}) {
    if (!reads || sentences->empty()) continue;
    for (const WordId word : sentences->words) {
      if (word < table_rows) touch(word);  // the model rejects larger ones
    }
    if (sentences == &target || options.source_end || has_empty_sentence(*sentences)) touch(kEnd);
  }
  const bool source_start = table.source && !source.empty() && options.source_start;
  const bool target_start = table.target && !target.empty() && options.start == model::Start::kEmbedded;
  if (source_start || target_start) touch(kStart);
  or_ticket_ = communicator.begin_or_reduce(bits_);
  united_ = false;
}

void SummedRows::set(const comm::Communicator& communicator, const OwnGradient& own) {
  if (!united_) {
    communicator.wait(or_ticket_);
    words_.clear();
    for (std::size_t b = 0; b < bits_.size(); ++b) {
      for (std::uint64_t left = bits_[b]; left != 0; left &= left - 1) {
        words_.push_back(static_cast<WordId>(b * kBits + static_cast<std::size_t>(std::countr_zero(left))));
      }
    }
    rows_.resize(words_.size() * cols_);
    united_ = true;
  }
  for ([[maybe_unused]] const WordId word : own.rows.words()) assert(bits_[word / kBits] >> word % kBits & 1U);
  const std::size_t at_once = std::max<std::size_t>(1, kPiece / std::max<std::size_t>(1, cols_));
  parallel_for(ceil_div(words_.size(), at_once), [&](std::size_t piece) {
    const std::size_t end = std::min(words_.size(), (piece + 1) * at_once);
    for (std::size_t i = piece * at_once; i < end; ++i) {
      if (const float* row = own.rows.row_of(words_[i])) {
        std::copy_n(row, cols_, rows_.data() + i * cols_);
      } else {
        std::fill_n(rows_.data() + i * cols_, cols_, 0.0F);
      }
    }
  });
}

}  // namespace rnnsearch::train
