#include "rnnsearch/comm/shard_tree.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace rnnsearch::comm {

ShardRange ShardTree::shards_of(std::uint64_t first, std::uint64_t count, std::uint64_t ranks) const {
  assert(ranks > 0 && shards_ % ranks == 0 && first + count <= ranks);
  const std::uint64_t each = shards_ / ranks;
  return {first * each, (first + count) * each};
}

// On level k, node i has the shards from i 2^k up to (i + 1) 2^k, as far as there are so many.
std::vector<ShardRange> ShardTree::nodes_of(ShardRange range) const {
  std::vector<ShardRange> nodes;
  while (range.first < range.end) {
    std::uint64_t size = range.first == 0 ? std::bit_ceil(shards_) : range.first & (~range.first + 1);
    while (std::min(range.first + size, shards_) > range.end) size /= 2;
    nodes.push_back({range.first, std::min(range.first + size, shards_)});
    range.first = nodes.back().end;
  }
  return nodes;
}

bool ShardTree::makes_node(ShardRange left, ShardRange right) const {
  assert(left.end == right.first);
  const std::uint64_t size = left.end - left.first;  // a node that has a right neighbour has all its 2^k shards
  return std::has_single_bit(size) && left.first % (2 * size) == 0 &&
         right.end == std::min(left.first + 2 * size, shards_);
}

std::size_t NodeStack::push(ShardRange node) {
  std::size_t additions = 0;
  nodes_.push_back(node);
  while (nodes_.size() > 1 && tree_.makes_node(nodes_[nodes_.size() - 2], nodes_.back())) {
    nodes_[nodes_.size() - 2].end = nodes_.back().end;
    nodes_.pop_back();
    ++additions;
  }
  return additions;
}

}  // namespace rnnsearch::comm
