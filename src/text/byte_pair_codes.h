// Byte pair encoding of one word: merges the best pair of neighbours until no pair can be merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <queue>
#include <vector>

namespace rnnsearch::text {

struct MergeSymbol {
  std::uint32_t begin, size;  // range of bytes in the word; size 0 if it was merged into its left neighbour
  std::uint32_t id;
  std::uint32_t left = 0, right = 0;  // neighbours
};
inline constexpr std::uint32_t kNoSymbol = std::numeric_limits<std::uint32_t>::max();

struct Merge {
  std::uint32_t rank;  // the lowest rank is merged first
  std::uint32_t id;    // id of the merged symbol
};

/// symbols: in: the characters of the word; out: the remaining symbols have a size > 0. merge_of(left, right) returns
/// the merge of two neighbours as std::optional<Merge>. All pairs of the best rank are merged, from the left, before
/// the ranks are compared again, as in subword-nmt; a merge can create a better pair. Takes time n log n.
template <class MergeOf>
void merge_pairs(std::vector<MergeSymbol>& symbols, const MergeOf& merge_of) {
  struct Pair {
    Merge merge;
    std::uint32_t left, right;
    std::uint32_t left_size, right_size;  // sizes when the pair was queued; if they changed, the pair is obsolete
    bool operator<(const Pair& other) const {
      return merge.rank != other.merge.rank ? merge.rank > other.merge.rank : left > other.left;
    }
  };
  const auto count = static_cast<std::uint32_t>(symbols.size());
  std::priority_queue<Pair> pairs;
  const auto look = [&](std::uint32_t left, std::uint32_t right) {
    if (left == kNoSymbol || right == kNoSymbol) return;
    if (const std::optional<Merge> merge = merge_of(symbols[left], symbols[right])) {
      pairs.push({*merge, left, right, symbols[left].size, symbols[right].size});
    }
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    symbols[i].left = i == 0 ? kNoSymbol : i - 1;
    symbols[i].right = i + 1 == count ? kNoSymbol : i + 1;
  }
  for (std::uint32_t i = 1; i < count; ++i) look(i - 1, i);
  std::vector<Pair> round;
  std::vector<std::uint32_t> made;
  while (!pairs.empty()) {
    round.clear();
    do {
      round.push_back(pairs.top());
      pairs.pop();
    } while (!pairs.empty() && pairs.top().merge.rank == round.front().merge.rank);
    made.clear();
    for (const Pair& pair : round) {
      MergeSymbol& left = symbols[pair.left];
      MergeSymbol& right = symbols[pair.right];
      if (left.size != pair.left_size || right.size != pair.right_size || left.right != pair.right) continue;
      left.size += right.size;
      left.id = pair.merge.id;
      left.right = right.right;
      if (right.right != kNoSymbol) symbols[right.right].left = pair.left;
      right.size = 0;
      made.push_back(pair.left);
    }
    for (const std::uint32_t i : made) {
      look(symbols[i].left, i);
      look(i, symbols[i].right);
    }
  }
}

}  // namespace rnnsearch::text
