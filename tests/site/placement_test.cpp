#include "rnnsearch/site/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "rnnsearch/base/error.h"

namespace rnnsearch::site {
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

RankPlace granted(const std::string& host, std::size_t threads, double cpus, std::uint64_t cgroup = 1) {
  RankPlace place{host, threads, "0-7"};
  place.quota = {cpus, cgroup, "cpu.max"};
  return place;
}

TEST(Placement, GivesRanksNoMoreThreadsThanTheirQuota) {
  struct Case {
    std::vector<RankPlace> places;
    std::vector<std::size_t> threads;
    std::string warning;
  };
  const std::vector<Case> cases{
      {{granted("a", 0, 0)}, {8}, ""},
      {{granted("a", 0, 3.9)}, {3}, ""},
      {{granted("a", 0, 100)}, {8}, ""},
      {{granted("a", 0, 0.5)}, {1}, "on a the quota of CPU time is 0.5 CPUs (cpu.max) for 1 thread (1 rank)"},
      {{granted("a", 4, 2)}, {4}, "on a the quota of CPU time is 2 CPUs (cpu.max) for 4 threads (1 rank)"},
      {{granted("a", 0, 2), granted("a", 0, 2)}, {1, 1}, ""},     // they share it
      {{granted("a", 0, 2), granted("a", 0, 2, 7)}, {2, 2}, ""},  // each has its own
      {{granted("a", 0, 2), granted("b", 0, 2)}, {2, 2}, ""},     // on two machines
      {{granted("a", 2, 3), granted("a", 2, 3)},
       {2, 2},
       "on a the quota of CPU time is 3 CPUs (cpu.max) for 4 threads (2 ranks)"},
  };
  for (Case c : cases) {
    share_cpus(c.places);
    std::vector<std::size_t> threads;
    for (const auto& place : c.places) threads.push_back(place.threads);
    EXPECT_EQ(threads, c.threads) << testing::PrintToString(c.threads) << c.warning;
    EXPECT_THAT(threads_beyond_quota(c.places), testing::StartsWith(c.warning));
    EXPECT_EQ(threads_beyond_quota(c.places).empty(), c.warning.empty());
  }
  EXPECT_THAT(describe({granted("a", 1, 0.5)}),
              testing::ElementsAre("[comm] a: 1 rank, 1 thread, CPUs 0-7, quota of 0.5 CPUs (cpu.max)"));
}

TEST(Placement, CountsByMachinesWhateverTheNamesOfTheirHosts) {
  const auto on = [](const std::string& host, std::size_t threads, const std::string& boot) {
    RankPlace place{host, threads, "0-3"};
    place.boot = boot;
    return place;
  };
  EXPECT_THAT(oversubscription({on("c", 4, "x"), on("c", 4, "y")}), IsEmpty());  // containers with one name
  EXPECT_THAT(oversubscription({on("c1", 4, "x"), on("c2", 4, "x")}), HasSubstr("on c1 8 threads (2 ranks: 0, 1)"));
  std::vector<RankPlace> places{on("c", 0, "x"), on("c", 0, "y"), on("d", 0, "x")};
  share_cpus(places);
  EXPECT_EQ(places[0].threads, 2U);
  EXPECT_EQ(places[1].threads, 4U);
  EXPECT_EQ(places[2].threads, 2U);
}

TEST(Placement, GivesARankAtLeastOneThreadAndKeepsWhatWasAskedFor) {
  std::vector<RankPlace> places{{"a", 0, "0"}, {"a", 0, "0"}, {"a", 3, "0-3"}, {"c", 0, ""}};
  share_cpus(places);
  EXPECT_EQ(places[0].threads, 1U);
  EXPECT_EQ(places[1].threads, 1U);
  EXPECT_EQ(places[2].threads, 3U);
  EXPECT_EQ(places[3].threads, 1U);
}

// Two sockets of two cores with two hardware threads each, numbered as Linux usually does: the second threads last.
class Topology : public testing::Test {
 protected:
  Topology() {
    for (int cpu = 0; cpu < 8; ++cpu) {
      write(fmt::format("cpu/cpu{}/topology/thread_siblings_list", cpu), fmt::format("{},{}", cpu % 4, cpu % 4 + 4));
    }
    write("node/online", "0-1");
    write("node/node0/cpulist", "0-1,4-5");
    write("node/node1/cpulist", "2-3,6-7");
  }
  ~Topology() override { std::filesystem::remove_all(system_); }
  void write(const std::string& name, const std::string& line) const {
    std::filesystem::create_directories((system_ / name).parent_path());
    std::ofstream(system_ / name) << line << "\n";
  }
  RankPlace place(std::size_t threads, const std::string& cpus, const std::string& host = "a") const {
    RankPlace place{host, threads, cpus};
    locate(place, system_);
    return place;
  }
  std::filesystem::path system_ = testing::TempDir() + fmt::format("placement-{}", ::getpid());
};

TEST_F(Topology, FindsCoresAndNumaDomains) {
  EXPECT_EQ(place(1, "0-1").cores, "0-1");
  EXPECT_EQ(place(1, "0-1").numa_domains, "0");
  EXPECT_EQ(place(1, "0,4").cores, "0");
  EXPECT_EQ(place(1, "1-2,5").cores, "1-2");
  EXPECT_EQ(place(1, "1-2,5").numa_domains, "0-1");
  EXPECT_EQ(place(1, "8").cores, "");  // the files say nothing of an offline CPU
  EXPECT_EQ(place(1, "0-1,8").cores, "0-1");
  EXPECT_EQ(place(1, "").numa_domains, "");
}

TEST_F(Topology, DescribesHostsThatAreAlikeTogether) {
  EXPECT_THAT(
      describe({place(2, "0-1"), place(2, "2-3"), place(2, "0-1", "b"), place(2, "2-3", "b"), place(8, "0-7", "c")}),
      testing::ElementsAre(
          "[comm] c: 1 rank, 8 threads on 4 cores, CPUs 0-7 (NUMA domains 0-1)",
          "[comm] each of 2 hosts (a, b): 2 ranks, 4 threads on 4 cores, CPUs 0-1 (NUMA domain 0) | 2-3 (NUMA "
          "domain 1)",
          testing::StartsWith("[comm] warning: gradients cross the network before they are summed within a host")));
  EXPECT_EQ(describe({place(2, "0-1"), place(2, "2-3"), place(2, "0-1", "b"), place(2, "2-3", "b")}).size(), 1U);
  EXPECT_EQ(describe({place(2, "0-1"), place(2, "0-1", "b")}).size(), 1U);
  EXPECT_THAT(describe({{"a", 4, "0-3"}}), testing::ElementsAre("[comm] a: 1 rank, 4 threads, CPUs 0-3"));
}

TEST_F(Topology, NamesBindingsThatAreSlow) {
  EXPECT_THAT(slow_bindings({place(2, "0-1"), place(2, "2-3")}), IsEmpty());
  EXPECT_THAT(
      slow_bindings({place(2, "0-1"), place(2, "0,4"), place(8, "0-7")}),
      testing::ElementsAre("rank 1 on a has 2 threads on 1 core", "rank 2 on a has CPUs in the NUMA domains 0-1"));
  EXPECT_THAT(slow_bindings({{"a", 8, "0-3"}}), IsEmpty());  // cores not known
}

}  // namespace
}  // namespace rnnsearch::site
