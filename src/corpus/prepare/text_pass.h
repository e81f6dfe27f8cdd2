// One pass over the training text, on all threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "corpus/prepare/pair_reader.h"
#include "corpus/prepare/word_statistics.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/prepare.h"
#include "rnnsearch/storage/digest.h"
#include "rnnsearch/text/word_list.h"

namespace rnnsearch::corpus {

/// The result of one thread for some consecutive pairs of a block.
struct Piece {
  struct Side {
    text::WordList words;              // words of the pairs that are kept
    std::vector<std::uint32_t> sizes;  // number of words of each of these pairs
    HashedWords hashed;                // used in the pass that counts words
    std::vector<WordId> ids;           // used in the pass that writes ids
  };
  Side source, target;
  struct Links {
    std::vector<std::uint32_t> sizes, positions;  // of each pair that is kept; empty if the corpus has no alignments
  } links;
  std::vector<float> weights;                 // of each pair that is kept; 1 if the text has none
  std::vector<storage::ShortDigest> digests;  // one for every pair, in the pass that searches repeated pairs
  DropCounts dropped;
  std::exception_ptr error;

  std::size_t kept() const { return source.sizes.size(); }
};

struct PassSteps {
  int pass = 1;  // PrepareProgress::pass
  /// Called on all threads: processes pairs [first, last) of the block. `piece` still holds the result of its last use.
  std::function<void(const TextBlock& block, std::size_t first, std::size_t last, Piece& piece)> work;
  /// Called with the pieces of a block, in the order of the text, while `work` processes the next block. The two must
  /// not use the same data.
  std::function<void(const std::vector<Piece>& pieces)> keep;
};

/// Totals of the whole text.
struct PassTotals {
  std::uint64_t pairs_read = 0, pairs_kept = 0;
  DropCounts dropped;
  std::string digest;                 // digest of the text, 32 hexadecimal digits
  std::uint64_t further_columns = 0;  // see TextBlock
};

/// Throws Error as PairReader and the steps do; of several errors, the first one in the text.
PassTotals read_text(const std::vector<TextFiles>& texts, const LineLimit& limit, const PassSteps& steps,
                     const std::function<void(const PrepareProgress&)>& progress);

/// Calls check_line for both lines of a pair.
void check_pair(const TextBlock& block, std::size_t pair);

/// Throws Error: the text changed while it was read.
[[noreturn]] void fail_on_change(const std::vector<TextFiles>& texts);

/// The names of the source and target text for error messages.
std::pair<std::string, std::string> names_of(const std::vector<TextFiles>& texts);

}  // namespace rnnsearch::corpus
