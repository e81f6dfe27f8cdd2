// Recognises a text that was appended to a corpus before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/corpus.h"

namespace rnnsearch::corpus {

/// Checks whether the pairs that are added are the last `count` pairs of a corpus, which outlives this.
class LastPairs {
 public:
  LastPairs(const Corpus& corpus, std::uint64_t count)
      : corpus_(corpus),
        same_(count > 0 && count <= corpus.train_pairs()),
        next_(corpus.train_pairs() - (same_ ? count : 0)) {}

  /// Throws Error if the corpus cannot be read.
  void add(std::span<const WordId> source, std::span<const WordId> target);
  bool are_these() const { return same_; }

 private:
  static constexpr std::uint64_t kPairs = 1 << 14;  // pairs read at once
  const Corpus& corpus_;
  bool same_;
  std::uint64_t next_;
  PairBlock block_;
  std::size_t at_ = 0;  // index in block_
};

}  // namespace rnnsearch::corpus
