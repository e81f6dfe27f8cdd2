#include "rnnsearch/comm/shard_tree.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rnnsearch::comm {
namespace {

/// The header's words: neighbours in pairs, level by level, and one without a neighbour as it is. A sum is written as
/// the expression that makes it.
std::string expression_of(std::uint64_t shards) {
  std::vector<std::string> level;
  for (std::uint64_t i = 0; i < shards; ++i) level.push_back(std::to_string(i));
  while (level.size() > 1) {
    std::vector<std::string> next;
    for (std::size_t i = 0; i < level.size(); i += 2) {
      next.push_back(i + 1 < level.size() ? "(" + level[i] + "+" + level[i + 1] + ")" : level[i]);
    }
    level = next;
  }
  return level.front();
}

struct Sum {
  ShardRange range;
  std::string text;
};

/// What sums become when they are added from left to right as far as the tree allows.
std::vector<Sum> added(const ShardTree& tree, const std::vector<Sum>& sums) {
  NodeStack nodes(tree);
  std::vector<std::string> texts;
  for (const Sum& sum : sums) {
    texts.push_back(sum.text);
    for (std::size_t i = nodes.push(sum.range); i > 0; --i) {
      const std::string right = texts.back();
      texts.pop_back();
      texts.back() = "(" + texts.back() + "+" + right + ")";
    }
  }
  std::vector<Sum> result;
  for (std::size_t i = 0; i < texts.size(); ++i) result.push_back({nodes.nodes()[i], texts[i]});
  return result;
}

std::vector<Sum> shards_from(ShardRange range) {
  std::vector<Sum> sums;
  for (std::uint64_t i = range.first; i < range.end; ++i) sums.push_back({{i, i + 1}, std::to_string(i)});
  return sums;
}

std::vector<ShardRange> ranges_of(const std::vector<Sum>& sums) {
  std::vector<ShardRange> ranges;
  for (const Sum& sum : sums) ranges.push_back(sum.range);
  return ranges;
}

TEST(ShardTree, AddsAlikeOnAnyNumberOfRanksInLinesOfAnyLength) {
  for (std::uint64_t shards = 1; shards <= 48; ++shards) {
    const ShardTree tree(shards);
    const std::string expected = expression_of(shards);
    for (std::uint64_t ranks = 1; ranks <= shards; ++ranks) {
      if (shards % ranks != 0) continue;
      for (std::uint64_t line = 1; line <= ranks; ++line) {
        if (ranks % line != 0) continue;
        SCOPED_TRACE(std::to_string(shards) + " shards, " + std::to_string(ranks) + " ranks in lines of " +
                     std::to_string(line));
        std::vector<Sum> of_lines;
        for (std::uint64_t first = 0; first < ranks; first += line) {
          std::vector<Sum> of_ranks;
          for (std::uint64_t rank = first; rank < first + line; ++rank) {
            const ShardRange own = tree.shards_of(rank, 1, ranks);
            const auto sums = added(tree, shards_from(own));
            ASSERT_EQ(ranges_of(sums), tree.nodes_of(own));
            of_ranks.insert(of_ranks.end(), sums.begin(), sums.end());
          }
          const auto sums = added(tree, of_ranks);
          ASSERT_EQ(ranges_of(sums), tree.nodes_of(tree.shards_of(first, line, ranks)));
          of_lines.insert(of_lines.end(), sums.begin(), sums.end());
        }
        const auto whole = added(tree, of_lines);
        ASSERT_EQ(whole.size(), 1U);
        ASSERT_EQ(whole.front().text, expected);
      }
    }
  }
}

TEST(ShardTree, NeedsOneSumOfARankWhereItsShardsAreAPowerOfTwo) {
  for (const std::uint64_t shards : {12, 16, 48, 1024}) {
    for (std::uint64_t each = 1; each < shards && shards % each == 0; each *= 2) {
      const ShardTree tree(shards);
      for (std::uint64_t rank = 0; rank < shards / each; ++rank) {
        EXPECT_EQ(tree.nodes_of(tree.shards_of(rank, 1, shards / each)).size(), 1U) << shards << " " << each;
      }
    }
    EXPECT_EQ(ShardTree(shards).nodes_of({0, shards}), (std::vector<ShardRange>{{0, shards}}));
  }
  const ShardTree twelve(12);
  EXPECT_EQ(twelve.nodes_of({3, 6}), (std::vector<ShardRange>{{3, 4}, {4, 6}}));
  EXPECT_EQ(twelve.nodes_of({6, 12}), (std::vector<ShardRange>{{6, 8}, {8, 12}}));
}

}  // namespace
}  // namespace rnnsearch::comm
