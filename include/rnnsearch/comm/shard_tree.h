// The order in which values of the S shards of a batch are added, which is the same for any number of ranks: neighbours
// are added in pairs, then these sums in pairs, and so on. Where the last one of a level has no neighbour, it goes up a
// level as it is. Every sum of shards that is made on the way is a node of this tree; its shards are consecutive.
//
// R ranks, where R divides S, hold S / R consecutive shards each. If S / R is a power of two, or R is 1 or S, the
// shards of a rank are a node, and one sum is all that it sends. Otherwise they are a few nodes (two for S = 12 and R =
// 2 or 4, at most 2 log2(S)), and it sends the sum of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rnnsearch::comm {

/// Consecutive shards: first, first + 1, ..., end - 1.
struct ShardRange {
  std::uint64_t first = 0, end = 0;
  friend bool operator==(const ShardRange&, const ShardRange&) = default;
};

class ShardTree {
 public:
  /// REQUIRES: shards >= 1.
  explicit ShardTree(std::uint64_t shards) : shards_(shards) {}

  std::uint64_t shards() const { return shards_; }
  /// The shards of `count` ranks from rank `first` on, of `ranks` ranks. REQUIRES: ranks divides shards().
  ShardRange shards_of(std::uint64_t first, std::uint64_t count, std::uint64_t ranks) const;
  /// The fewest nodes that together have these shards, from left to right.
  std::vector<ShardRange> nodes_of(ShardRange range) const;
  /// Whether the sum of two nodes, of which `right` begins where `left` ends, is a node.
  bool makes_node(ShardRange left, ShardRange right) const;

 private:
  std::uint64_t shards_;
};

/// Tells, for nodes that are added from left to right, which additions are possible after each node.
class NodeStack {
 public:
  explicit NodeStack(const ShardTree& tree) : tree_(tree) {}

  /// Puts a node to the right of all others. Returns the number of additions that are then possible: in each, the sum
  /// of the last two nodes takes their place.
  std::size_t push(ShardRange node);
  const std::vector<ShardRange>& nodes() const { return nodes_; }

 private:
  ShardTree tree_;
  std::vector<ShardRange> nodes_;
};

}  // namespace rnnsearch::comm
