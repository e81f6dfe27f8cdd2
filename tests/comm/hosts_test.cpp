#include "rnnsearch/comm/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rnnsearch::comm {
namespace {

TEST(Hosts, CountsTheRanksOfAHostWhereAllHostsAreAlike) {
  EXPECT_EQ(ranks_of_each_host({"a"}), 1);
  EXPECT_EQ(ranks_of_each_host({"a", "a"}), 2);
  EXPECT_EQ(ranks_of_each_host({"a", "b", "c"}), 1);
  EXPECT_EQ(ranks_of_each_host({"a", "a", "b", "b", "c", "c"}), 2);
  EXPECT_EQ(ranks_of_each_host({"a", "a", "a", "b", "b", "b"}), 3);
  EXPECT_EQ(ranks_of_each_host({"a", "b", "a", "b"}), 1);            // dealt out in turn
  EXPECT_EQ(ranks_of_each_host({"a", "a", "b", "b", "a", "a"}), 1);  // the first host again
  EXPECT_EQ(ranks_of_each_host({"a", "a", "b"}), 1);
  EXPECT_EQ(ranks_of_each_host({"a", "a", "b", "b", "b", "b"}), 1);
  EXPECT_EQ(ranks_of_each_host({"a", "a", "b", "c"}), 1);
}

TEST(Hosts, AreNumberedWhereMachinesShareAName) {
  EXPECT_THAT(distinct_hosts({"c", "c", "d", "c", "c"}, {"x", "y", "x", "x", "z"}),
              testing::ElementsAre("c", "c#2", "d", "c", "c#3"));
}

}  // namespace
}  // namespace rnnsearch::comm
