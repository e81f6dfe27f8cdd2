#include "comm/exchange.h"

#include "rnnsearch/comm/shard_tree.h"
#include "tests/support/test.h"

namespace rnnsearch::comm {
namespace {

void expect_every_rank_once_in_each_line(int ranks, int ranks_of_host) {
  for (int rank = 0; rank < ranks; ++rank) {
    const Grid grid(rank, ranks, ranks_of_host);
    int product = 1;
    for (int dimension = 0; dimension < grid.dimensions(); ++dimension) {
      product *= grid.width(dimension);
      std::set<int> line;
      for (int coordinate = 0; coordinate < grid.width(dimension); ++coordinate) {
        const int neighbour = grid.neighbour(dimension, coordinate);
        ASSERT_TRUE(neighbour >= 0 && neighbour < ranks) << neighbour << " of " << ranks;
        line.insert(neighbour);
        const Grid theirs(neighbour, ranks, ranks_of_host);
        EXPECT_EQ(theirs.coordinate(dimension), coordinate);
        EXPECT_EQ(theirs.neighbour(dimension, grid.coordinate(dimension)), rank);
      }
      EXPECT_EQ(line.size(), static_cast<std::size_t>(grid.width(dimension)));
      EXPECT_EQ(grid.neighbour(dimension, grid.coordinate(dimension)), rank);
    }
    EXPECT_EQ(product, ranks);
  }
}

TEST(Grid, HasEveryRankOnceInEachLine) {
  for (int ranks = 1; ranks <= 130; ++ranks) expect_every_rank_once_in_each_line(ranks, 1);
  for (int ranks_of_host : {2, 3, 4, 8})
    for (int hosts = 1; hosts <= 40; ++hosts) expect_every_rank_once_in_each_line(hosts * ranks_of_host, ranks_of_host);
}

TEST(Grid, HasTheRanksOfEachHostInALine) {
  for (int rank = 0; rank < 72; ++rank) {
    const Grid grid(rank, 72, 4);
    ASSERT_EQ(grid.dimensions(), 3);
    for (int place = 0; place < 4; ++place) EXPECT_EQ(grid.neighbour(0, place), rank / 4 * 4 + place);
  }
  EXPECT_EQ(Grid(0, 72, 4).width(1), 6);
  EXPECT_EQ(Grid(0, 72, 4).width(2), 3);
  EXPECT_EQ(Grid(0, 8, 4).dimensions(), 2);
  EXPECT_EQ(Grid(0, 8, 8).dimensions(), 1);  // all ranks are on one host
}

TEST(Grid, IsAsSquareAsTheNumberOfRanksAllows) {
  EXPECT_EQ(Grid(0, 1).dimensions(), 0);
  EXPECT_EQ(Grid(0, 16).dimensions(), 1);
  EXPECT_EQ(Grid(0, 17).dimensions(), 1);  // prime
  EXPECT_EQ(Grid(0, 1024).width(0), 32);
  EXPECT_EQ(Grid(0, 300).width(0), 20);
  EXPECT_EQ(Grid(0, 300).width(1), 15);
}

/// The header's words: neighbours in pairs, level by level, and one without a neighbour as it is. A sum is written as
/// the expression that makes it.
std::string expression_of(std::uint64_t shards) {
  std::vector<std::string> level;
  for (std::uint64_t i = 0; i < shards; ++i) level.push_back(std::to_string(i));
  while (level.size() > 1) {
    std::vector<std::string> next;
    for (std::size_t i = 0; i < level.size(); i += 2)
      next.push_back(i + 1 < level.size() ? "(" + level[i] + "+" + level[i + 1] + ")" : level[i]);
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
      for (std::uint64_t rank = 0; rank < shards / each; ++rank)
        EXPECT_EQ(tree.nodes_of(tree.shards_of(rank, 1, shards / each)).size(), 1U) << shards << " " << each;
    }
    EXPECT_EQ(ShardTree(shards).nodes_of({0, shards}), (std::vector<ShardRange>{{0, shards}}));
  }
  const ShardTree twelve(12);
  EXPECT_EQ(twelve.nodes_of({3, 6}), (std::vector<ShardRange>{{3, 4}, {4, 6}}));
  EXPECT_EQ(twelve.nodes_of({6, 12}), (std::vector<ShardRange>{{6, 8}, {8, 12}}));
}

}  // namespace
}  // namespace rnnsearch::comm
