// The sequence of training batches. It depends only on the seed and the corpus, not on the number of ranks or threads.
//
// In an epoch, blocks of `block_pairs` consecutive pairs, in an order drawn from (seed, epoch), form a stream of pairs.
// A window of the stream, about `window_blocks` blocks long, is read in bulk and its pairs are shuffled. A window is a
// whole number of pools of `pool_batches` batches, so that no batch is cut short at its end. Each pool is sorted by
// max(source, target) length and divided into batches, and the batches are shuffled. (GroundHog uses pools of 20
// batches of 80.) The last pool of an epoch holds between half a pool and one and a half; its pairs are divided evenly
// into batches of at most `batch_sentences`.
//
// With `batch_words`, batches hold about as many words instead, as Marian's --mini-batch-words and fairseq's
// --max-tokens do: pairs times the longest sentence among them, source or target with its </s>, are at most
// `batch_words`, which is what memory and time depend on. A pool then has as many pairs as `pool_batches` batches have
// on average over the corpus, and is divided into as few batches as that limit allows, as even as they can be. The
// limit may grow during the training (Smith et al. 2018). It follows from the place of a pool in the data, so that a
// position needs no number of updates. The updates of a ramp are counted in full batches, so that it takes a few more.
//
// The pairs of a batch, sorted by length, are dealt out to the ranks in turn, so that all ranks have about the same
// amount of work: one at a time, or `run` consecutive ones.
//
// The paper shuffled its corpus once and used that order in every epoch (appendix B.2). `reshuffle = false` does the
// same: blocks, pairs and batches have the order of epoch 0 in all epochs. With `shuffle = false` the stream is the
// corpus in its own order, for corpora whose order is a curriculum; the batches of a pool may still be shuffled.
//
// Other corpora may be mixed in (mixture.h). An epoch is then one of the mixture, a window holds pairs of all corpora
// in the shares of the mixture, and everything above holds for these pairs. Without shuffling, the corpora take turns.
//
// With `sampled_softmax`, consecutive batches of a window share a sample of the target vocabulary: </s> and the words
// of their targets. They are as many batches as it takes to reach that number of words (Jean, Cho, Memisevic and Bengio
// 2015, section 3.1: a sample for each partition of the text). With a joint vocabulary the sample also has the words of
// their sources: training changes the embeddings of these, and if the output shares them, their probabilities. The last
// batches of a window also have the words of the first ones, if they have too few of their own.
//
// While the batches of one window are used, a background thread reads, shuffles, sorts and divides the next window.
// Memory: these two windows, and the order of the blocks with 4 bytes for each block (160 kB for 40 million pairs).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rnnsearch/base/option.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/corpus/mixture.h"

namespace rnnsearch::corpus {

struct BatchOptions {
  std::uint64_t batch_sentences = 80;  // pairs in a batch over all ranks (paper: 80)
  Ramp batch_words = 0;                // if not 0, the limit of a batch instead of batch_sentences
  std::uint64_t pool_batches = 20;     // batches that are sorted by length together (paper: 20)
  std::uint64_t block_pairs = 1024;    // consecutive pairs that the shuffling of an epoch keeps together
  std::uint64_t window_blocks = 64;    // blocks that are held in memory and whose pairs are shuffled together
  std::uint64_t seed = 1;
  bool shuffle = true;          // shuffle the pairs; false: use the order of the corpus
  bool reshuffle = true;        // shuffle each epoch anew; false: use the order of epoch 0 in all epochs (paper, B.2)
  bool shuffle_batches = true;  // shuffle the batches of a pool; false: short sentences first (GroundHog)
  bool curriculum = false;      // let long sentences come later in each window, of epoch 0 if reshuffle
  bool prefetch = true;         // read the next window in the background; this does not change the batches
  std::uint64_t sampled_softmax = 0;  // if not 0, the number of target words of BatchSlice::sample
};

/// A position in the training data, always at the start of a batch: `pairs` pairs of epoch `epoch` have been used. The
/// end of an epoch is represented as the start of the next one, so `pairs` is less than the number of pairs.
struct DataPosition {
  std::uint64_t epoch = 0;
  std::uint64_t pairs = 0;
  friend bool operator==(const DataPosition&, const DataPosition&) = default;
};

/// One rank's share of a global batch. It is empty if there are fewer pairs than ranks; the rank takes part
/// nevertheless.
struct BatchSlice {
  Sentences source{}, target{};
  Sentences links{};             // of each pair, as in PairBlock, if one of the corpora has alignments
  std::vector<float> weights{};  // of each pair; all are 1 if it is empty
  std::shared_ptr<const std::vector<WordId>> sample{};  // with sampled_softmax
  std::span<const WordId> sample_words() const { return sample ? *sample : std::span<const WordId>{}; }
  std::uint64_t batch_pairs = 0;  // pairs in the global batch
  // With runs of one pair, pair i of the slice is pair first_pair + i * pair_stride of the global batch. Otherwise
  // `first_pair` and `pair_stride` are those of the first pairs of the runs.
  std::uint64_t first_pair = 0;
  std::uint64_t pair_stride = 1;
  std::uint64_t batch_source_words = 0;  // words in the global batch, without </s>
  std::uint64_t batch_target_words = 0;
  DataPosition after{};  // the position after this batch
};

/// Not thread-safe.
class BatchSequence {
 public:
  /// The corpora must outlive this object and must not be moved. run: the number of consecutive pairs of a batch that a
  /// rank gets at a time. others: corpora that are mixed in. Throws Error if the corpus has no training pairs, and as
  /// check_mixture does.
  BatchSequence(const Corpus& corpus, const BatchOptions& options, int rank, int ranks, std::uint64_t run = 1,
                std::span<const MixedCorpus> others = {});
  ~BatchSequence();
  BatchSequence(BatchSequence&&) noexcept;
  BatchSequence& operator=(BatchSequence&&) noexcept;

  /// Returns the next batch. The sequence never ends: the first batch of an epoch follows the last one of the previous
  /// epoch. Waits if reading is slower than the caller. Throws Error if the corpus cannot be read or is damaged,
  /// including errors of the background thread.
  BatchSlice next();
  DataPosition position() const;
  std::uint64_t epoch_pairs() const;  // pairs in an epoch, of all corpora
  /// Moves to a position, which costs the reading of one window. Throws Error, with nothing changed, if the position is
  /// not the start of a batch.
  void seek(const DataPosition& position);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace rnnsearch::corpus
