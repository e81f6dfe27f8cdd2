#include "train/shard_sums.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/train/optimizer.h"

namespace rnnsearch::train {
namespace {

constexpr std::size_t kBits = 64;

bool has_empty_sentence(const Sentences& sentences) {
  return std::adjacent_find(sentences.offsets.begin(), sentences.offsets.end()) != sentences.offsets.end();
}

}  // namespace

ShardPlan::ShardPlan(std::uint64_t shards, int rank, int ranks)
    : tree_(shards), own_(tree_.shards_of(static_cast<std::uint64_t>(rank), 1, static_cast<std::uint64_t>(ranks))) {
  comm::NodeStack nodes(tree_);
  for (std::uint64_t shard = own_.first; shard < own_.end; ++shard) {
    const std::size_t held = nodes.nodes().size();
    steps_.push_back({held, nodes.push({shard, shard + 1})});
  }
}

void ShardSums::take(const ShardPlan& plan, std::size_t shard, std::span<float> gradient) {
  assert(shard + 1 < plan.count() && gradient.size() == size_);
  const ShardPlan::Step& step = plan.step(shard);
  const std::size_t held = step.held, additions = step.additions;
  const std::size_t to = held - additions;
  if (held_.size() <= to) held_.resize(to + 1);
  if (additions == 0) held_[to].resize(size_);
  parallel_ranges(size_, kBlock, [&](std::size_t first, std::size_t last) {
    float* const own = gradient.data();
    float* const sum = held_[to].data();
    for (std::size_t k = held; k-- > to + 1;) {
      const float* const left = held_[k].data();
      for (std::size_t i = first; i < last; ++i) own[i] = left[i] + own[i];
    }
    if (additions == 0) {
      std::copy(own + first, own + last, sum + first);
    } else {
      for (std::size_t i = first; i < last; ++i) sum[i] += own[i];
    }
    std::fill(own + first, own + last, 0.0F);
  });
}

std::vector<std::span<float>> ShardSums::finish(const ShardPlan& plan, std::size_t first, std::span<float> gradient) {
  assert(first + gradient.size() <= size_);
  const ShardPlan::Step& step = plan.step(plan.count() - 1);
  const std::size_t held = step.held, additions = step.additions;
  parallel_ranges(gradient.size(), kBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = held; k-- > held - additions;) {
      const float* const left = held_[k].data() + first;
      for (std::size_t i = begin; i < end; ++i) gradient[i] = left[i] + gradient[i];
    }
  });
  std::vector<std::span<float>> nodes;
  for (std::size_t k = 0; k < held - additions; ++k) {
    nodes.push_back(std::span(held_[k]).subspan(first, gradient.size()));
  }
  nodes.push_back(gradient);
  return nodes;
}

SummedRows::SummedRows(std::size_t table_rows, std::size_t cols) : cols_(cols), bits_(ceil_div(table_rows, kBits)) {}

void SummedRows::begin_union(const comm::Communicator& communicator, const OwnGradient& table, const Sentences& source,
                             const Sentences& target, std::span<const WordId> sample,
                             const model::ModelOptions& options) {
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
  if (table.output) std::ranges::for_each(sample, touch);
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
  const std::size_t at_once = std::max<std::size_t>(1, kBlock / std::max<std::size_t>(1, cols_));
  parallel_ranges(words_.size(), at_once, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (const float* row = own.rows.row_of(words_[i])) {
        std::copy_n(row, cols_, rows_.data() + i * cols_);
      } else {
        std::fill_n(rows_.data() + i * cols_, cols_, 0.0F);
      }
    }
  });
}

}  // namespace rnnsearch::train
