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
  using OwnGradient = model::Model::TableGradient;

  SummedRows(std::size_t table_rows, std::size_t cols);

  /// Starts to unite the sets of words that the ranks use in these sentences. Needs no gradient yet.
  void begin_union(const comm::Communicator& communicator, const OwnGradient& table, const Sentences& source,
                   const Sentences& target, const model::ModelOptions& options);
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
