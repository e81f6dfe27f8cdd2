#include "corpus/prepare/pair_stream.h"

#include <algorithm>
#include <numeric>

#include "rnnsearch/base/portable.h"

namespace rnnsearch::corpus {
namespace {

void append(const Sentences& part, Sentences& all) {
  const std::uint64_t shift = all.words.size();
  all.words.insert(all.words.end(), part.words.begin(), part.words.end());
  for (std::size_t i = 1; i < part.offsets.size(); ++i) all.offsets.push_back(part.offsets[i] + shift);
}

}  // namespace

PairStream::PairStream(const Corpus& corpus, const BatchOptions& options, std::uint64_t number)
    : corpus_(corpus),
      options_(options),
      number_(number),
      pairs_(corpus.train_pairs()),
      block_(std::min(options.block_pairs, pairs_)) {}

void PairStream::order_blocks(std::uint64_t epoch) {
  epoch = drawn_epoch(options_, epoch);
  if (blocks_epoch_ == epoch) return;
  blocks_.resize((pairs_ + block_ - 1) / block_);
  std::iota(blocks_.begin(), blocks_.end(), 0u);
  // Part 0 is the first corpus, and the parts behind it are windows (batches.cpp), so other corpora count from the end.
  const std::uint64_t part = number_ == 0 ? 0 : (std::uint64_t{1} << 32) - number_;
  if (options_.shuffle) Random(options_.seed, stream_number(epoch, part)).shuffle(blocks_);
  blocks_epoch_ = epoch;
}

void PairStream::read(std::uint64_t first, std::uint64_t last, bool links, const std::atomic<bool>& stop,
                      PairBlock& pairs) {
  while (first < last && !stop) {
    const std::uint64_t epoch = first / pairs_, begin = epoch * pairs_, end = std::min(last, begin + pairs_);
    order_blocks(epoch);
    read_pass(first - begin, end - begin, links, stop, pairs);
    first = end;
  }
}

void PairStream::read_pass(std::uint64_t first, std::uint64_t last, bool links, const std::atomic<bool>& stop,
                           PairBlock& pairs) const {
  const std::uint64_t short_block = blocks_.size() - 1;  // the last block of the corpus may have fewer pairs
  const std::uint64_t lacking = blocks_.size() * block_ - pairs_;
  const auto short_place =
      static_cast<std::uint64_t>(std::find(blocks_.begin(), blocks_.end(), short_block) - blocks_.begin());
  const auto start_of = [&](std::uint64_t i) { return i * block_ - (i > short_place ? lacking : 0); };
  std::uint64_t i = first / block_;  // behind the short block it may be one more
  while (start_of(i + 1) <= first) ++i;
  for (; start_of(i) < last && !stop; ++i) {
    const std::uint64_t from = std::max(first, start_of(i)), to = std::min(last, start_of(i + 1));
    const PairBlock block = corpus_.read_pairs(blocks_[i] * block_ + from - start_of(i), to - from);
    append(block.source, pairs.source);
    append(block.target, pairs.target);
    pairs.weights.insert(pairs.weights.end(), block.weights.begin(), block.weights.end());
    if (!links) continue;
    append(block.links, pairs.links);
    while (pairs.links.size() < pairs.source.size()) pairs.links.add({});
  }
}

}  // namespace rnnsearch::corpus
