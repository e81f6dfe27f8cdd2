// Batches of drawn words, of given lengths: what an update costs does not depend on what the sentences say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/corpus/batches.h"

namespace rnnsearch::corpus {

/// Words of a sentence pair, without </s>.
struct PairLength {
  std::size_t source = 0, target = 0;
  friend bool operator==(const PairLength&, const PairLength&) = default;
};

/// Lines "SOURCE TARGET", two numbers of at least 1. `name` is the file's, for errors. Throws Error with the line, and
/// when there is none.
std::vector<PairLength> read_pair_lengths(std::string_view text, const std::string& name);

struct SyntheticOptions {
  std::vector<PairLength> lengths;                 // at least one; more pairs than these repeat them
  std::size_t source_words = 0, target_words = 0;  // sizes of the vocabularies
  std::uint64_t batch_sentences = 80, pool_batches = 20;
  std::uint64_t sampled_softmax =
      0;  // if not 0, the size of BatchSlice::sample: the batch's words, and the most frequent
  std::uint64_t seed = 1;
};

/// `count` batches, as BatchSequence makes them of a corpus with such lengths: pairs in a drawn order, pools
/// sorted by length and cut, the batches of a pool shuffled; of each the share of rank `rank` of `ranks`, which gets
/// `run` pairs at a time. Words are
/// drawn with probabilities that fall as 1 / rank in the vocabulary (Zipf's law), so that few are most of the text. A
/// function of the options alone: all ranks hold shares of the same batches. `after` is not set.
std::vector<BatchSlice> synthetic_batches(const SyntheticOptions& options, std::size_t count, std::size_t rank,
                                          std::size_t ranks, std::size_t run = 1);

}  // namespace rnnsearch::corpus
