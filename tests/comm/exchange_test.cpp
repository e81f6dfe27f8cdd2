#include "comm/exchange.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>

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
  for (int ranks_of_host : {2, 3, 4, 8}) {
    for (int hosts = 1; hosts <= 40; ++hosts) expect_every_rank_once_in_each_line(hosts * ranks_of_host, ranks_of_host);
  }
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

}  // namespace
}  // namespace rnnsearch::comm
