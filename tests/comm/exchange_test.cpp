#include "comm/exchange.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>

namespace rnnsearch::comm {
namespace {

TEST(Grid, HasEveryRankOnceInEachLine) {
  for (int ranks = 1; ranks <= 130; ++ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      const Grid grid(rank, ranks);
      int product = 1;
      for (int dimension = 0; dimension < grid.dimensions(); ++dimension) {
        product *= grid.width(dimension);
        std::set<int> line;
        for (int coordinate = 0; coordinate < grid.width(dimension); ++coordinate) {
          const int neighbour = grid.neighbour(dimension, coordinate);
          ASSERT_TRUE(neighbour >= 0 && neighbour < ranks) << neighbour << " of " << ranks;
          line.insert(neighbour);
          const Grid theirs(neighbour, ranks);
          EXPECT_EQ(theirs.coordinate(dimension), coordinate);
          EXPECT_EQ(theirs.neighbour(dimension, grid.coordinate(dimension)), rank);
        }
        EXPECT_EQ(line.size(), static_cast<std::size_t>(grid.width(dimension)));
        EXPECT_EQ(grid.neighbour(dimension, grid.coordinate(dimension)), rank);
      }
      EXPECT_EQ(product, ranks);
    }
  }
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
