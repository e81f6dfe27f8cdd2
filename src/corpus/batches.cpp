#include "rnnsearch/corpus/batches.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/random.h"

namespace rnnsearch::corpus {
namespace {

/// How an epoch's stream of pairs is cut into pools and windows: arithmetic alone, so that any place is found at once.
struct Plan {
  std::uint64_t pairs, block, batch, pool, pools, windows;

  Plan(std::uint64_t pairs_, const BatchOptions& options)
      : pairs(pairs_),
        block(std::min(options.block_pairs, pairs)),
        batch(std::min(options.batch_sentences, pairs)),
        pool(batch * std::min(options.pool_batches, pairs / batch + 1)),
        pools(std::max<std::uint64_t>(1, (pairs + pool / 2) / pool)) {
    const std::uint64_t window = block * std::min(options.window_blocks, pairs / block + 1);
    const std::uint64_t pools_a_window = std::max<std::uint64_t>(1, window / pool);
    windows = (pools + pools_a_window - 1) / pools_a_window;
  }

  std::uint64_t first_pool(std::uint64_t window) const { return window * pools / windows; }
  std::uint64_t first_pair(std::uint64_t pool_index) const { return pool_index == pools ? pairs : pool_index * pool; }
  /// The window that holds a pair of the stream.
  std::uint64_t window_of(std::uint64_t pair) const {
    const std::uint64_t pool_index = std::min(pair / pool, pools - 1);
    return ((pool_index + 1) * windows - 1) / pools;  // the last w with first_pool(w) <= pool_index
  }
};

/// Streams of one seed; the highest bit keeps them from those that others number from 0.
std::uint64_t stream_number(std::uint64_t epoch, std::uint64_t part) {
  return (std::uint64_t{1} << 63) | (epoch << 32) | part;
}

}  // namespace

struct BatchSequence::Implementation {
  const Corpus& corpus;
  BatchOptions options;
  Plan plan;
  std::size_t rank, ranks;

  DataPosition position;
  std::vector<std::uint32_t> blocks;   // in the order of the epoch
  std::uint64_t blocks_epoch = ~0ull;  // of `blocks`

  // The window at hand.
  struct Batch {
    std::size_t begin, end;  // in `order`
  };
  PairBlock window;
  std::vector<std::uint32_t> order;  // the window's pairs
  std::vector<Batch> batches;
  std::size_t next_batch = 0;

  Implementation(const Corpus& corpus_, const BatchOptions& options_, int rank_, int ranks_)
      : corpus(corpus_),
        options(options_),
        plan(corpus.train_pairs(), options),
        rank(static_cast<std::size_t>(rank_)),
        ranks(static_cast<std::size_t>(ranks_)) {}

  void order_blocks(std::uint64_t epoch) {
    if (blocks_epoch == epoch) return;
    blocks.resize((plan.pairs + plan.block - 1) / plan.block);
    std::iota(blocks.begin(), blocks.end(), 0u);
    Random(options.seed, stream_number(epoch, 0)).shuffle(blocks);
    blocks_epoch = epoch;
  }

  /// Pairs [first, last) of the epoch's stream.
  void read_stream(std::uint64_t first, std::uint64_t last) {
    window.source.clear();
    window.target.clear();
    const std::uint64_t short_block = blocks.size() - 1;  // the corpus's last, wherever it stands in the order
    const std::uint64_t lacking = blocks.size() * plan.block - plan.pairs;
    const auto short_place =
        static_cast<std::uint64_t>(std::find(blocks.begin(), blocks.end(), short_block) - blocks.begin());
    const auto start_of = [&](std::uint64_t i) { return i * plan.block - (i > short_place ? lacking : 0); };
    std::uint64_t i = first / plan.block;  // or, once the short block is behind, one later
    while (start_of(i + 1) <= first) ++i;
    for (; start_of(i) < last; ++i) {
      const std::uint64_t from = std::max(first, start_of(i)), to = std::min(last, start_of(i + 1));
      const PairBlock block = corpus.read_pairs(blocks[i] * plan.block + from - start_of(i), to - from);
      append(block.source, window.source);
      append(block.target, window.target);
    }
  }

  static void append(const Sentences& part, Sentences& all) {
    const std::uint64_t shift = all.words.size();
    all.words.insert(all.words.end(), part.words.begin(), part.words.end());
    for (std::size_t i = 1; i < part.offsets.size(); ++i) all.offsets.push_back(part.offsets[i] + shift);
  }

  void load_window(std::uint64_t epoch, std::uint64_t number) {
    order_blocks(epoch);
    const std::uint64_t first_pool = plan.first_pool(number), last_pool = plan.first_pool(number + 1);
    const std::uint64_t first = plan.first_pair(first_pool), last = plan.first_pair(last_pool);
    read_stream(first, last);
    order.resize(last - first);
    std::iota(order.begin(), order.end(), 0u);
    Random random(options.seed, stream_number(epoch, number + 1));
    random.shuffle(order);
    batches.clear();
    next_batch = 0;
    const auto length = [&](std::uint32_t pair) {
      return std::max(window.source.length(pair), window.target.length(pair));
    };
    for (std::uint64_t pool = first_pool; pool < last_pool; ++pool) {
      const std::size_t begin = plan.first_pair(pool) - first, size = plan.first_pair(pool + 1) - first - begin;
      const auto from = order.begin() + static_cast<std::ptrdiff_t>(begin);
      std::stable_sort(from, from + static_cast<std::ptrdiff_t>(size),
                       [&](std::uint32_t a, std::uint32_t b) { return length(a) < length(b); });
      const std::size_t count = (size + plan.batch - 1) / plan.batch;
      std::vector<Batch> cut;
      for (std::size_t k = 0; k < count; ++k) cut.push_back({begin + k * size / count, begin + (k + 1) * size / count});
      random.shuffle(cut);
      batches.insert(batches.end(), cut.begin(), cut.end());
    }
  }

  BatchSlice next() {
    if (next_batch == batches.size()) load_window(position.epoch, plan.window_of(position.pairs));
    const Batch batch = batches[next_batch++];
    BatchSlice slice;
    slice.batch_pairs = batch.end - batch.begin;
    for (std::size_t i = batch.begin; i < batch.end; ++i) {
      slice.batch_source_words += window.source.length(order[i]);
      slice.batch_target_words += window.target.length(order[i]);
      if ((i - batch.begin) % ranks != rank) continue;
      slice.source.add(window.source[order[i]]);
      slice.target.add(window.target[order[i]]);
    }
    position.pairs += slice.batch_pairs;
    if (position.pairs == plan.pairs) position = {position.epoch + 1, 0};
    slice.after = position;
    return slice;
  }

  void seek(const DataPosition& wanted) {
    bool found = wanted.pairs < plan.pairs;
    if (found) {
      const std::uint64_t number = plan.window_of(wanted.pairs);
      load_window(wanted.epoch, number);
      std::uint64_t pairs = plan.first_pair(plan.first_pool(number));
      for (; pairs < wanted.pairs; ++next_batch) pairs += batches[next_batch].end - batches[next_batch].begin;
      found = pairs == wanted.pairs;
    }
    if (!found) {
      seek(position);  // the window at hand must be the position's
      throw Error(text_of("corpus: pair ", wanted.pairs, " of epoch ", wanted.epoch, " of ", corpus.path().string(),
                          " (", plan.pairs, " pairs) is no batch's beginning with batches of ", options.batch_sentences,
                          ", pools of ", options.pool_batches, " and seed ", options.seed,
                          "; go on with the batch options and the seed that the run began with"));
    }
    position = wanted;
  }
};

BatchSequence::BatchSequence(const Corpus& corpus, const BatchOptions& options, int rank, int ranks) {
  assert(0 <= rank && rank < ranks);
  if (corpus.train_pairs() == 0)
    throw Error(
        text_of("corpus: ", corpus.path().string(), " has no training pairs; make it again with rnnsearch prepare"));
  for (const auto& [name, value] : {std::pair{"batch-sentences", options.batch_sentences},
                                    {"pool-batches", options.pool_batches},
                                    {"block-pairs", options.block_pairs},
                                    {"window-blocks", options.window_blocks}})
    if (value == 0) throw Error(text_of("corpus: ", name, " is 0, at least 1 was expected"));
  implementation_ = std::make_unique<Implementation>(corpus, options, rank, ranks);
}
BatchSequence::~BatchSequence() = default;
BatchSequence::BatchSequence(BatchSequence&&) noexcept = default;
BatchSequence& BatchSequence::operator=(BatchSequence&&) noexcept = default;

BatchSlice BatchSequence::next() {
  return implementation_->next();
}
DataPosition BatchSequence::position() const {
  return implementation_->position;
}
void BatchSequence::seek(const DataPosition& position) {
  implementation_->seek(position);
}

}  // namespace rnnsearch::corpus
