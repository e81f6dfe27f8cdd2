#include "rnnsearch/corpus/batches.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <future>
#include <set>
#include <utility>

#include "corpus/prepare/pair_stream.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/portable.h"

namespace rnnsearch::corpus {
namespace {

/// The division of an epoch's stream of pairs into pools and windows. It is computed, so that any position is found at
/// once without reading the corpus.
struct Plan {
  double mean_words;  // of a pair: its longer side and </s>
  std::uint64_t pairs, block, batch, pool, pools, windows;

  Plan(std::uint64_t epoch_pairs, double words, const BatchOptions& options)
      : mean_words(words),
        pairs(epoch_pairs),
        block(std::min(options.block_pairs, pairs)),
        batch(
            std::min(options.batch_words.largest() == 0 ? options.batch_sentences : mean_pairs(words, options), pairs)),
        pool(batch * std::min(options.pool_batches, pairs / batch + 1)),
        pools(std::max<std::uint64_t>(1, (pairs + pool / 2) / pool)) {
    const std::uint64_t window = block * std::min(options.window_blocks, pairs / block + 1);
    const std::uint64_t pools_a_window = std::max<std::uint64_t>(1, window / pool);
    windows = ceil_div(pools, pools_a_window);
  }

  /// The pairs of a batch of batch_words, if all of them have the mean length.
  static std::uint64_t mean_pairs(double words, const BatchOptions& options) {
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(options.batch_words.largest() / words));
  }

  std::uint64_t first_pool(std::uint64_t window) const { return window * pools / windows; }
  std::uint64_t first_pair(std::uint64_t pool_index) const { return pool_index == pools ? pairs : pool_index * pool; }
  /// The window that holds a pair of the stream.
  std::uint64_t window_of(std::uint64_t pair) const {
    const std::uint64_t pool_index = std::min(pair / pool, pools - 1);
    return ((pool_index + 1) * windows - 1) / pools;  // the last w with first_pool(w) <= pool_index
  }
};

/// Consecutive pools of an epoch's stream: their pairs, shuffled, sorted and divided into batches.
struct Window {
  std::uint64_t epoch = 0, number = 0;
  PairBlock pairs;
  std::vector<std::uint32_t> order;  // indices into `pairs`
  struct Batch {
    std::size_t begin, end;  // range of `order`
    std::shared_ptr<const std::vector<WordId>> sample{};
  };
  std::vector<Batch> batches;
};

/// The limit of a batch where so many words have been read. With a limit of w(u) = a + (b - a) u / N in update u, these
/// are the integral of w from 0 to u, which is (w(u)^2 - a^2) / (2 (b - a) / N).
std::uint64_t words_of_batch(const Ramp& limit, double words_read) {
  const double a = limit.from, b = limit.to, read_in_ramp = (a + b) / 2 * static_cast<double>(limit.updates);
  if (words_read >= read_in_ramp) return static_cast<std::uint64_t>(b);
  return static_cast<std::uint64_t>(std::sqrt(a * a + (b * b - a * a) * words_read / read_in_ramp));
}

/// Divides a pool, whose pairs have these ascending lengths, into batches of as many words as are allowed.
std::vector<Window::Batch> cut_by_words(const std::vector<std::uint64_t>& lengths, std::size_t begin,
                                        std::uint64_t words) {
  const auto cut = [&](std::uint64_t limit) {
    std::vector<Window::Batch> batches;
    for (std::size_t i = 0, first = 0; i < lengths.size(); first = i) {
      for (++i; i < lengths.size() && (i - first + 1) * (lengths[i] + 1) <= limit;) ++i;
      batches.push_back({begin + first, begin + i});
    }
    return batches;
  };
  // The lowest limit that needs no more batches makes them even.
  const std::size_t count = cut(words).size();
  std::uint64_t low = 0, high = words;  // `high` is enough, `low` is not
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (cut(middle).size() <= count ? high : low) = middle;
  }
  return cut(high);
}

void draw_samples(Window& window, std::size_t words, bool joint_vocabulary) {
  const std::size_t batches = window.batches.size();
  for (std::size_t first = 0, end = 0; first < batches; first = end) {
    std::set<WordId> sample{kEnd};
    for (std::size_t i = first; i == first || (i < first + batches && sample.size() < words); ++i) {
      const Window::Batch& batch = window.batches[i % batches];
      for (std::size_t k = batch.begin; k < batch.end; ++k) {
        const auto target = window.pairs.target[window.order[k]];
        sample.insert(target.begin(), target.end());
        if (!joint_vocabulary) continue;
        const auto source = window.pairs.source[window.order[k]];
        sample.insert(source.begin(), source.end());
      }
      end = std::min(i + 1, batches);
    }
    const auto shared = std::make_shared<const std::vector<WordId>>(sample.begin(), sample.end());
    for (std::size_t i = first; i < end; ++i) window.batches[i].sample = shared;
  }
}

/// The order of Platanios et al. (2019) with the competence that grows as the square root of the time (equation 7): a
/// batch whose sentences are longer than a share d of all may come once c(t) >= d, which is at the time
/// (d^2 - c_0^2) / (1 - c_0^2), with c_0 = 0.01; it comes at a random time from then on.
void order_by_competence(Window& window, Random& random) {
  const auto length = [&](const Window::Batch& batch) {
    const std::uint32_t longest = window.order[batch.end - 1];
    return std::max(window.pairs.source.length(longest), window.pairs.target.length(longest));
  };
  std::stable_sort(window.batches.begin(), window.batches.end(),
                   [&](const auto& a, const auto& b) { return length(a) < length(b); });
  std::vector<std::pair<double, Window::Batch>> timed;
  double pairs = 0;
  for (const Window::Batch& batch : window.batches) {
    const double difficulty = pairs / static_cast<double>(window.order.size());
    const double begin = std::max(0.0, (difficulty * difficulty - 1e-4) / (1 - 1e-4));
    timed.emplace_back(begin + (1 - begin) * random.uniform(), batch);
    pairs += static_cast<double>(batch.end - batch.begin);
  }
  std::stable_sort(timed.begin(), timed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::ranges::transform(timed, window.batches.begin(), [](const auto& t) { return t.second; });
}

/// The corpora of a mixture, the first one first.
std::vector<const Corpus*> all_of(const Corpus& first, std::span<const MixedCorpus> others) {
  std::vector<const Corpus*> corpora{&first};
  for (const MixedCorpus& other : others) corpora.push_back(other.corpus);
  return corpora;
}

/// Words of the longer side and </s>, in the mean over the pairs of an epoch.
double mean_words(const std::vector<const Corpus*>& corpora, const Shares& shares) {
  double source = 0, target = 0;
  for (std::size_t k = 0; k < corpora.size(); ++k) {
    const double times = static_cast<double>(shares.pairs_of(k)) / static_cast<double>(corpora[k]->train_pairs());
    source += times * static_cast<double>(corpora[k]->train_source_words());
    target += times * static_cast<double>(corpora[k]->train_target_words());
  }
  return std::max(source, target) / static_cast<double>(shares.pairs()) + 1;
}

/// Reads windows. Any thread may use it, but only one at a time.
class WindowReader {
 public:
  WindowReader(const std::vector<const Corpus*>& corpora, const Shares& shares, const BatchOptions& options,
               const Plan& plan)
      : shares_(shares), options_(options), plan_(plan), joint_vocabulary_(corpora[0]->joint_vocabulary()) {
    for (const Corpus* corpus : corpora) {
      streams_.emplace_back(*corpus, options, streams_.size());
      links_ = links_ || corpus->has_alignments();
    }
  }

  /// Reads window `number` of an epoch. Once `stop` is set it returns early, with an incomplete window.
  Window read(std::uint64_t epoch, std::uint64_t number, const std::atomic<bool>& stop) {
    const std::uint64_t first_pool = plan_.first_pool(number), last_pool = plan_.first_pool(number + 1);
    const std::uint64_t first = plan_.first_pair(first_pool), last = plan_.first_pair(last_pool);
    Window window;
    window.epoch = epoch;
    window.number = number;
    read_pairs(epoch, first, last, stop, window);
    if (stop) return window;
    Random random(options_.seed, stream_number(drawn_epoch(options_, epoch), number + 1));
    if (options_.shuffle) random.shuffle(window.order);
    const auto length = [&](std::uint32_t pair) {
      return std::max(window.pairs.source.length(pair), window.pairs.target.length(pair));
    };
    for (std::uint64_t pool = first_pool; pool < last_pool; ++pool) {
      const std::size_t begin = plan_.first_pair(pool) - first, size = plan_.first_pair(pool + 1) - first - begin;
      const auto from = window.order.begin() + static_cast<std::ptrdiff_t>(begin);
      std::stable_sort(from, from + static_cast<std::ptrdiff_t>(size),
                       [&](std::uint32_t a, std::uint32_t b) { return length(a) < length(b); });
      std::vector<Window::Batch> cut;
      if (options_.batch_words.largest() > 0) {
        std::vector<std::uint64_t> lengths(size);
        std::transform(from, from + static_cast<std::ptrdiff_t>(size), lengths.begin(), length);
        const auto read = static_cast<double>(epoch * plan_.pairs + first + begin);
        cut = cut_by_words(lengths, begin, words_of_batch(options_.batch_words, read * plan_.mean_words));
      } else {
        const std::size_t count = (size + plan_.batch - 1) / plan_.batch;
        for (std::size_t k = 0; k < count; ++k) {
          cut.push_back({begin + k * size / count, begin + (k + 1) * size / count});
        }
      }
      if (options_.shuffle_batches) random.shuffle(cut);
      window.batches.insert(window.batches.end(), cut.begin(), cut.end());
    }
    if (options_.curriculum && drawn_epoch(options_, epoch) == 0) order_by_competence(window, random);
    if (options_.sampled_softmax > 0) draw_samples(window, options_.sampled_softmax, joint_vocabulary_);
    return window;
  }

 private:
  /// Reads pairs [first, last) of an epoch, corpus after corpus, and puts them into the order in which these take
  /// turns.
  void read_pairs(std::uint64_t epoch, std::uint64_t first, std::uint64_t last, const std::atomic<bool>& stop,
                  Window& window) {
    const auto begin = shares_.among_first(first), end = shares_.among_first(last);
    std::vector<std::uint64_t> next_index;  // of each corpus: where its next pair is in window.pairs
    for (std::size_t k = 0; k < streams_.size(); ++k) {
      next_index.push_back(window.pairs.source.size());
      const std::uint64_t before = epoch * shares_.pairs_of(k);
      streams_[k].read(before + begin[k], before + end[k], links_, stop, window.pairs);
    }
    window.order.reserve(last - first);
    for (std::uint64_t pair = first; pair < last; ++pair) {
      window.order.push_back(static_cast<std::uint32_t>(next_index[shares_.corpus_of(pair)]++));
    }
  }

  const Shares& shares_;
  const BatchOptions& options_;
  const Plan& plan_;
  const bool joint_vocabulary_;
  std::vector<PairStream> streams_;  // of each corpus
  bool links_ = false;               // some corpus has alignments
};

}  // namespace

struct BatchSequence::Implementation {
  const Corpus& corpus;
  const BatchOptions options;
  const Shares shares;
  const Plan plan;
  const std::size_t rank, ranks, run;

  DataPosition position;
  Window window;
  std::size_t next_batch = 0;  // index of the next batch in the window

  WindowReader reader;  // used by the background thread while `ahead` is valid
  std::uint64_t ahead_epoch = 0, ahead_number = 0;
  std::atomic<bool> stop = false;  // tells the background thread that `ahead` is no longer needed
  std::future<Window> ahead;       // the window after `window`

  Implementation(const Corpus& corpus_, std::span<const MixedCorpus> others, const BatchOptions& options_, int rank_,
                 int ranks_, std::uint64_t run_)
      : corpus(corpus_),
        options(options_),
        shares(corpus, others),
        plan(shares.pairs(), mean_words(all_of(corpus, others), shares), options),
        rank(static_cast<std::size_t>(rank_)),
        ranks(static_cast<std::size_t>(ranks_)),
        run(run_),
        reader(all_of(corpus, others), shares, options, plan) {}
  ~Implementation() { forget_ahead(); }

  void forget_ahead() {
    if (!ahead.valid()) return;
    stop = true;
    ahead.wait();  // at most until the current block is read
    ahead = {};
    stop = false;
  }

  /// Returns window `number` of an epoch: from the background thread if it has read that one, otherwise by reading it
  /// now. Rethrows exceptions of the background thread.
  Window take(std::uint64_t epoch, std::uint64_t number) {
    if (ahead.valid() && ahead_epoch == epoch && ahead_number == number) return ahead.get();
    forget_ahead();
    return reader.read(epoch, number, stop);
  }

  void enter(Window&& entered) {
    window = std::move(entered);
    next_batch = 0;
    if (!options.prefetch) return;
    const bool last = window.number + 1 == plan.windows;
    ahead_epoch = window.epoch + (last ? 1 : 0);
    ahead_number = last ? 0 : window.number + 1;
    ahead = std::async(std::launch::async, [this] { return reader.read(ahead_epoch, ahead_number, stop); });
  }

  BatchSlice next() {
    if (next_batch == window.batches.size()) enter(take(position.epoch, plan.window_of(position.pairs)));
    const Window::Batch batch = window.batches[next_batch++];
    const auto& [source, target, links, weights] = window.pairs;
    BatchSlice slice;
    slice.batch_pairs = batch.end - batch.begin;
    slice.sample = batch.sample;
    slice.first_pair = rank * run;
    slice.pair_stride = ranks * run;
    for (std::size_t i = batch.begin; i < batch.end; ++i) {
      const std::uint32_t pair = window.order[i];
      slice.batch_source_words += source.length(pair);
      slice.batch_target_words += target.length(pair);
      if ((i - batch.begin) / run % ranks != rank) continue;
      slice.source.add(source[pair]);
      slice.target.add(target[pair]);
      if (!links.empty()) slice.links.add(links[pair]);
      slice.weights.push_back(weights[pair]);
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
      Window there = take(wanted.epoch, number);
      std::uint64_t pairs = plan.first_pair(plan.first_pool(number));
      std::size_t batch = 0;
      for (; pairs < wanted.pairs; ++batch) pairs += there.batches[batch].end - there.batches[batch].begin;
      found = pairs == wanted.pairs;
      if (found) {
        enter(std::move(there));
        next_batch = batch;
      }
    }
    if (!found) {
      throw Error(
          "corpus: pair {} of epoch {} of {} ({} pairs) is not the start of a batch with batches of {}, pools of {} "
          "and seed {}; resume with the batch options and the seed of the run",
          wanted.pairs, wanted.epoch, corpus.path(), plan.pairs,
          options.batch_words.largest() > 0 ? value::write(options.batch_words) + " words"
                                            : fmt::format("{} pairs", options.batch_sentences),
          options.pool_batches, options.seed);
    }
    position = wanted;
  }
};

BatchSequence::BatchSequence(const Corpus& corpus, const BatchOptions& options, int rank, int ranks, std::uint64_t run,
                             std::span<const MixedCorpus> others) {
  assert(0 <= rank && rank < ranks && run > 0);
  if (corpus.train_pairs() == 0)
    throw Error("corpus: {} has no training pairs; make it again with rnnsearch prepare", corpus.path());
  for (const auto& [name, value] : {std::pair{"batch-sentences", options.batch_sentences},
                                    {"pool-batches", options.pool_batches},
                                    {"block-pairs", options.block_pairs},
                                    {"window-blocks", options.window_blocks}})
    if (value == 0) throw Error("corpus: {} is 0, but must be at least 1", name);
  check_mixture(corpus, others);
  implementation_ = std::make_unique<Implementation>(corpus, others, options, rank, ranks, run);
}
BatchSequence::~BatchSequence() = default;
BatchSequence::BatchSequence(BatchSequence&&) noexcept = default;
BatchSequence& BatchSequence::operator=(BatchSequence&&) noexcept = default;

BatchSlice BatchSequence::next() { return implementation_->next(); }
DataPosition BatchSequence::position() const { return implementation_->position; }
std::uint64_t BatchSequence::epoch_pairs() const { return implementation_->plan.pairs; }
void BatchSequence::seek(const DataPosition& position) { implementation_->seek(position); }

}  // namespace rnnsearch::corpus
