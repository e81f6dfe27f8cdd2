#include "rnnsearch/comm/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rnnsearch::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Placement, CountsThreadsAgainstTheCpusOfEachRank) {
  EXPECT_THAT(oversubscription({{"a", 4, "0-3"}, {"a", 4, "4-7"}, {"b", 8, "0-7"}}), IsEmpty());
  EXPECT_THAT(oversubscription({{"a", 4, "0-3"}, {"a", 5, "4-7"}}),
              AllOf(HasSubstr("on a 5 threads (1 rank: 1)"), HasSubstr("4 CPUs (4-7)")));
}

TEST(Placement, CountsRanksThatShareASetOfCpusTogether) {
  // A host may have CPUs to spare and its ranks be bound to the same few.
  EXPECT_THAT(oversubscription({{"a", 4, "0-3"}, {"a", 1, "0-3"}, {"a", 1, "4-63"}}),
              AllOf(HasSubstr("on a 5 threads (2 ranks: 0, 1)"), HasSubstr("4 CPUs (0-3)")));
  EXPECT_THAT(oversubscription({{"a", 4, "0-3"}, {"b", 4, "0-3"}}), IsEmpty());
}

TEST(Placement, CountsSetsThatAreNested) {
  EXPECT_THAT(oversubscription({{"a", 2, "0-3"}, {"a", 1, "0"}, {"a", 1, "1"}}), IsEmpty());
  EXPECT_THAT(oversubscription({{"a", 3, "0-3"}, {"a", 1, "0"}, {"a", 1, "1"}}), HasSubstr("5 threads (3 ranks"));
  EXPECT_THAT(oversubscription({{"a", 1, "0-3"}, {"a", 2, "0"}}), HasSubstr("on a 2 threads (1 rank: 1)"));
}

TEST(Placement, CountsSetsThatOverlapInPartTogether) {
  EXPECT_THAT(oversubscription({{"a", 3, "0-3"}, {"a", 3, "2-5"}}), IsEmpty());
  EXPECT_THAT(oversubscription({{"a", 4, "0-3"}, {"a", 4, "2-5"}}),
              AllOf(HasSubstr("8 threads (2 ranks: 0, 1)"), HasSubstr("6 CPUs (0-5)")));
}

TEST(Placement, SaysNothingOfCpusThatAreNotKnown) {
  EXPECT_THAT(oversubscription({{"a", 4, ""}}), IsEmpty());
}

TEST(Placement, SharesTheCpusOfAHostAmongItsRanks) {
  std::vector<RankPlace> places{{"a", 0, "0-7"}, {"a", 0, "0-7"}, {"a", 0, "0-7"}, {"b", 0, "0-7"}, {"b", 0, "8,10"}};
  share_cpus(places);
  std::vector<std::size_t> threads;
  for (const auto& place : places) threads.push_back(place.threads);
  EXPECT_THAT(threads, testing::ElementsAre(2, 2, 2, 8, 2));
  EXPECT_THAT(oversubscription(places), IsEmpty());
}

TEST(Placement, GivesARankAtLeastOneThreadAndKeepsWhatWasAskedFor) {
  std::vector<RankPlace> places{{"a", 0, "0"}, {"a", 0, "0"}, {"a", 3, "0-3"}, {"c", 0, ""}};
  share_cpus(places);
  EXPECT_EQ(places[0].threads, 1U);
  EXPECT_EQ(places[1].threads, 1U);
  EXPECT_EQ(places[2].threads, 3U);
  EXPECT_EQ(places[3].threads, 1U);
}

}  // namespace
}  // namespace rnnsearch::comm
