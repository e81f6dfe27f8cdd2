// The sequence of training batches: a function of the seed and the corpus alone, not of the number of ranks or threads.
//
// An epoch: blocks of `block_pairs` consecutive pairs in an order drawn from (seed, epoch) make a stream of pairs. A
// window of the stream, some `window_blocks` blocks long, is read in bulk and its pairs shuffled; it is a whole number
// of pools of `pool_batches` batches, so that no batch is cut short at its end. A pool is sorted by max(source, target)
// length, cut into batches, and the batches shuffled. (GroundHog: pools of 20 batches of 80.) What an epoch's last pool
// lacks or has too much (it holds half a pool to one and a half) is spread over its batches; none has more than
// `batch_sentences`. Rank r of R computes the pairs r, r + R, r + 2R, ... of a batch sorted by length, so that the
// slices weigh the same.
//
// The paper shuffled its corpus once and traversed it in this order in every epoch (appendix B.2); `reshuffle = false`
// does so: blocks, pairs and batches then have the order of epoch 0 in all epochs. With `shuffle = false` the stream is
// the corpus in its own order, for corpora whose order is a curriculum; batches of a pool may still be shuffled.
//
// While the batches of one window are handed out, the next is read, shuffled, sorted and cut on a thread of its own.
// Memory is these two windows, and the order of the blocks: 4 bytes a block, so 160 kB for 40 million pairs.
#pragma once

#include <cstdint>
#include <memory>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/corpus.h"

namespace rnnsearch::corpus {

struct BatchOptions {
  std::uint64_t batch_sentences = 80;  // pairs in a batch, all ranks together (recipe: 80)
  std::uint64_t pool_batches = 20;     // batches sorted by length together (recipe: 20)
  std::uint64_t block_pairs = 1024;    // pairs that stay together in the order of the epoch
  std::uint64_t window_blocks = 64;    // blocks shuffled together and held in memory
  std::uint64_t seed = 1;
  bool shuffle = true;    // draw the order of the pairs; false: the order of the corpus
  bool reshuffle = true;  // draw an order for each epoch; false: every epoch has the order of the first (paper, B.2)
  bool shuffle_batches = true;  // shuffle the batches of a pool; false: short sentences first (GroundHog)
  bool prefetch = true;         // read ahead; the batches are the same without
};

/// Where in the data a run is. `pairs` of epoch `epoch` have been handed out; always at a batch's boundary. The end of
/// an epoch is the beginning of the next: `pairs` is less than the corpus has.
struct DataPosition {
  std::uint64_t epoch = 0;
  std::uint64_t pairs = 0;
  friend bool operator==(const DataPosition&, const DataPosition&) = default;
};

/// One rank's share of a global batch. May be empty (fewer pairs than ranks): the rank still takes part.
struct BatchSlice {
  Sentences source, target;
  std::uint64_t batch_pairs = 0;  // of the global batch
  std::uint64_t first_pair = 0;   // pair i of the slice is pair first_pair + i pair_stride of it
  std::uint64_t pair_stride = 1;
  std::uint64_t batch_source_words = 0;  // of the global batch, without </s>
  std::uint64_t batch_target_words = 0;
  DataPosition after;  // where the run is once this batch is done
};

/// Not to be shared by threads.
class BatchSequence {
 public:
  /// `corpus` outlives this and stays in its place. Throws Error when the corpus has no training pairs.
  BatchSequence(const Corpus& corpus, const BatchOptions& options, int rank, int ranks);
  ~BatchSequence();
  BatchSequence(BatchSequence&&) noexcept;
  BatchSequence& operator=(BatchSequence&&) noexcept;

  /// Never ends: after the last batch of an epoch comes the first of the next. Waits where reading is slower than its
  /// caller. Throws Error for a corpus that cannot be read, or is found damaged, also when the thread found that.
  BatchSlice next();
  DataPosition position() const;
  /// Costs one window's reading, whatever the position. Throws Error for a position that is no batch boundary; then
  /// nothing has changed.
  void seek(const DataPosition& position);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace rnnsearch::corpus
