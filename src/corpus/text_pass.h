// One reading of the training text: by one process or several, each on all its threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "corpus/line_index.h"
#include "corpus/pair_reader.h"
#include "corpus/word_statistics.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/prepare.h"
#include "rnnsearch/corpus/team.h"
#include "rnnsearch/storage/digest.h"
#include "rnnsearch/text/word_list.h"

namespace rnnsearch::corpus {

/// What one thread makes of some consecutive pairs of a block.
struct Piece {
  struct Side {
    text::WordList words;              // of the pairs that are kept
    std::vector<std::uint32_t> sizes;  // words of each of them
    HashedWords hashed;                // when they are counted
    std::vector<WordId> ids;           // when they are written
  };
  Side source, target;
  std::vector<storage::ShortDigest> digests;  // of every pair, when repeated ones are sought
  DropCounts dropped;
  std::exception_ptr error;

  std::size_t kept() const { return source.sizes.size(); }
};

struct PassSteps {
  int pass = 1;  // for the progress
  /// On all threads: pairs [first, last) of the block into a piece that is as it was after its last use.
  std::function<void(const TextBlock& block, std::size_t first, std::size_t last, Piece& piece)> work;
  /// Each process gets the pieces of its own pairs, in their order, while the next ones are at work. What this may
  /// touch, `work` may not.
  std::function<void(const std::vector<Piece>& pieces)> keep;
  /// Rank 0 gets the sizes and ids, or the digests, of all pairs, in the order of the text, likewise.
  std::function<void(const std::vector<Piece>& pieces)> collect;
};

/// Of the whole text, at rank 0.
struct PassTotals {
  std::uint64_t pairs_read = 0, pairs_kept = 0;
  DropCounts dropped;
  std::string digest;  // of the text: 32 hexadecimal digits, the same for any number of processes
};

/// COLLECTIVE. index: as PairReader takes it. Throws Error as PairReader and the steps do: of several places where
/// something is wrong, for the first in the text.
PassTotals read_text(const std::vector<TextFiles>& texts, const std::vector<std::optional<LineIndex>>& index,
                     Team& team, const PassSteps& steps, const std::function<void(const PrepareProgress&)>& progress);

/// check_line of both lines of a pair.
void check_pair(const TextBlock& block, std::size_t pair);

[[noreturn]] void fail_on_change(const std::vector<TextFiles>& texts);

/// The training text as errors call it.
std::pair<std::string, std::string> names_of(const std::vector<TextFiles>& texts);

}  // namespace rnnsearch::corpus
