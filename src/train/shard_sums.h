// The gradients of the shards of a rank, which are computed one after the other, while they are added in the order of
// comm::ShardTree: the binary counter of pairwise summation. With n shards a rank holds at most log2(n) + 1 sums.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/comm/shard_tree.h"
#include "rnnsearch/model/model.h"

namespace rnnsearch::train {

/// What is done with the gradient of each shard of this rank.
class ShardPlan {
 public:
  /// REQUIRES: ranks divides shards.
  ShardPlan(std::uint64_t shards, int rank, int ranks);

  std::uint64_t shards() const { return tree_.shards(); }
  comm::ShardRange own() const { return own_; }
  std::size_t count() const { return steps_.size(); }

  struct Step {
    std::size_t held = 0;       // sums of former shards that are held
    std::size_t additions = 0;  // how many of them, the last ones, are added to the shard's gradient
  };
  const Step& step(std::size_t shard) const { return steps_[shard]; }

 private:
  comm::ShardTree tree_;
  comm::ShardRange own_;
  std::vector<Step> steps_;
};

/// The sums of one array of numbers, such as the dense gradient. Memory is reused from update to update.
class ShardSums {
 public:
  /// Begins an update with arrays of this size.
  void begin(std::size_t size) { size_ = size; }
  /// Adds the gradient of a shard, but the last one, and sets `gradient` to 0.
  void take(const ShardPlan& plan, std::size_t shard, std::span<float> gradient);
  /// Adds to elements [first, first + gradient.size()) of the last shard's gradient what was held. Returns the nodes of
  /// this rank, the last of which is `gradient`. They live until the next begin().
  std::vector<std::span<float>> finish(const ShardPlan& plan, std::size_t first, std::span<float> gradient);

 private:
  std::size_t size_ = 0;
  std::vector<std::vector<float>> held_;
};

/// The gradient of an embedding, m wide, summed over the ranks. It holds only the rows that some rank used.
class SummedRows {
 public:
  using OwnGradient = model::Model::TableGradient;

  SummedRows(std::size_t table_rows, std::size_t cols);

  /// Starts to unite the sets of words that the ranks use in these sentences and this sample. Needs no gradient yet.
  void begin_union(const comm::Communicator& communicator, const OwnGradient& table, const Sentences& source,
                   const Sentences& target, std::span<const WordId> sample, const model::ModelOptions& options);
  /// Sets rows() to the gradient of this rank, or of one of its shards. Waits for the union the first time.
  void set(const comm::Communicator& communicator, const OwnGradient& own);
  /// The united words in increasing order, and their rows, [words().size(), m].
  std::span<const WordId> words() const { return words_; }
  std::span<float> rows() { return rows_; }

 private:
  std::size_t cols_;
  std::vector<std::uint64_t> bits_;  // one for each word of the table: some rank uses it
  comm::Communicator::Ticket or_ticket_ = 0;
  bool united_ = false;  // words_ are those of this update
  std::vector<WordId> words_;
  std::vector<float> rows_;
};

}  // namespace rnnsearch::train
