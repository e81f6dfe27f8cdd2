// The gradient of an embedding, summed over the ranks. It holds only the rows that some rank used. K rows of the table,
// m embedding width.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/model/model.h"

namespace rnnsearch::train {

class SummedRows {
 public:
  using OwnGradient = model::Model<float>::TableGradient;

  /// rounded: ranks send one another bfloat16, with error feedback.
  SummedRows(std::size_t table_rows, std::size_t cols, bool rounded);

  /// Starts to unite the sets of words that the ranks use in these sentences. Needs no gradient yet.
  void begin_union(const comm::Communicator& communicator, const OwnGradient& table, const Sentences& source,
                   const Sentences& target, const model::ModelOptions& options);
  /// Sets rows() to the gradient of this rank, or of one of its shards. Waits for the union the first time.
  void set(const comm::Communicator& communicator, const OwnGradient& own);
  /// Starts to add the rows of all ranks. They must not be touched until the communicator has waited.
  void begin_all_reduce(const comm::Communicator& communicator);
  /// After the sum: keeps its rounding errors, each for the next update in which a rank uses the word. Or, because they
  /// are not finite either where the sum is not, forgets all.
  void keep_errors(bool finite);

  /// The united words in increasing order, and their rows, [words().size(), m].
  std::span<const WordId> words() const { return words_; }
  std::span<float> rows() { return rows_; }

 private:
  /// act(row of rows(), its word) for all rows, on all threads.
  template <class Act>
  void for_rows(const Act& act) const;

  std::size_t cols_;
  std::vector<std::uint64_t> bits_;  // one for each word of the table: some rank uses it
  comm::Communicator::Ticket or_ticket_ = 0;
  bool united_ = false;  // words_ are those of this update
  std::vector<WordId> words_;
  std::vector<float> rows_;
  // The rounding errors of all words, [K, m], and those of words_, [words_.size(), m], because a sum needs them in one
  // piece. Both are empty without rounding.
  std::vector<float> errors_, errors_of_rows_;
};

}  // namespace rnnsearch::train
