// The sequence of training batches: a function of the seed and the corpus alone, not of the number of ranks or threads.
//
// An epoch: blocks of `block_pairs` consecutive pairs in an order drawn from (seed, epoch); `window_blocks` blocks at a time
// are read in bulk and their pairs shuffled; pools of `pool_batches` batches are sorted by max(source, target) length, cut
// into batches, and the batches of a pool shuffled. (GroundHog: pools of 20 batches of 80.) Memory is one window.
// Rank r of R computes the pairs r, r + R, r + 2R, ... of a batch sorted by length, so that the slices weigh the same.
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
};

/// Where in the data a run is. `pairs` of epoch `epoch` have been handed out; always at a batch's boundary.
struct DataPosition {
  std::uint64_t epoch = 0;
  std::uint64_t pairs = 0;
  friend bool operator==(const DataPosition&, const DataPosition&) = default;
};

/// One rank's share of a global batch. May be empty (fewer pairs than ranks): the rank still takes part.
struct BatchSlice {
  Sentences source, target;
  std::uint64_t batch_pairs = 0;         // of the global batch
  std::uint64_t batch_source_words = 0;  // of the global batch, without </s>
  std::uint64_t batch_target_words = 0;
  DataPosition after;                    // where the run is once this batch is done
};

class BatchSequence {
 public:
  /// `corpus` outlives this. Throws Error when the corpus has no training pairs.
  BatchSequence(const Corpus& corpus, const BatchOptions& options, int rank, int ranks);
  ~BatchSequence();
  BatchSequence(BatchSequence&&) noexcept;
  BatchSequence& operator=(BatchSequence&&) noexcept;

  /// Never ends: after the last batch of an epoch comes the first of the next.
  BatchSlice next();
  DataPosition position() const;
  /// Costs one window's reading, whatever the position. Throws Error for a position that is no batch boundary.
  void seek(const DataPosition& position);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace rnnsearch::corpus
