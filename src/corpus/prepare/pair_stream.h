// The pairs of one corpus in the order in which training reads them.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "rnnsearch/corpus/batches.h"
#include "rnnsearch/corpus/corpus.h"

namespace rnnsearch::corpus {

/// The number of a random stream of the seed. The highest bit keeps it apart from streams that other code numbers from
/// 0.
inline std::uint64_t stream_number(std::uint64_t epoch, std::uint64_t part) {
  return (std::uint64_t{1} << 63) | (epoch << 32) | part;
}

/// The epoch whose order is used in `epoch`.
inline std::uint64_t drawn_epoch(const BatchOptions& options, std::uint64_t epoch) {
  return options.reshuffle ? epoch : 0;
}

/// Endless: one pass over the corpus follows the other, each with blocks of consecutive pairs in an order drawn anew.
/// Any thread may use it, but only one at a time.
class PairStream {
 public:
  /// number: of the corpus in a mixture, from 0. The corpora of a mixture draw different orders. `corpus` and `options`
  /// must outlive this object.
  PairStream(const Corpus& corpus, const BatchOptions& options, std::uint64_t number);

  /// Appends pairs [first, last) of the stream to `pairs`, with links if `links` is set (none for the pairs of a corpus
  /// without alignments). Once `stop` is set it returns early.
  void read(std::uint64_t first, std::uint64_t last, bool links, const std::atomic<bool>& stop, PairBlock& pairs);

 private:
  void order_blocks(std::uint64_t epoch);
  /// The same within one pass over the corpus.
  void read_pass(std::uint64_t first, std::uint64_t last, bool links, const std::atomic<bool>& stop,
                 PairBlock& pairs) const;

  const Corpus& corpus_;
  const BatchOptions& options_;
  const std::uint64_t number_, pairs_, block_;
  std::vector<std::uint32_t> blocks_;  // the blocks in the order of epoch blocks_epoch_
  std::uint64_t blocks_epoch_ = ~0ull;
};

}  // namespace rnnsearch::corpus
