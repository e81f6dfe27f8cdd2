#include "rnnsearch/site/placement.h"

#include "rnnsearch/site/site_check.h"
#include "tests/support/test.h"

namespace rnnsearch::site {
namespace {

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

TEST(Placement, SaysNothingOfCpusThatAreNotKnown) { EXPECT_THAT(oversubscription({{"a", 4, ""}}), IsEmpty()); }

TEST(Placement, SharesTheCpusOfAHostAmongItsRanks) {
  std::vector<RankPlace> places{{"a", 0, "0-7"}, {"a", 0, "0-7"}, {"a", 0, "0-7"}, {"b", 0, "0-7"}, {"b", 0, "8,10"}};
  share_cpus(places);
  std::vector<std::size_t> threads;
  for (const auto& place : places) threads.push_back(place.threads);
  EXPECT_THAT(threads, ElementsAre(2, 2, 2, 8, 2));
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
    EXPECT_THAT(threads_beyond_quota(c.places), StartsWith(c.warning));
    EXPECT_EQ(threads_beyond_quota(c.places).empty(), c.warning.empty());
  }
  EXPECT_THAT(describe({granted("a", 1, 0.5)}),
              ElementsAre("[comm] a: 1 rank, 1 thread, CPUs 0-7, quota of 0.5 CPUs (cpu.max)"));
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
class Topology : public ScratchTest {
 protected:
  Topology() {
    for (int cpu = 0; cpu < 8; ++cpu) {
      write(fmt::format("cpu/cpu{}/topology/thread_siblings_list", cpu), fmt::format("{},{}", cpu % 4, cpu % 4 + 4));
    }
    write("node/online", "0-1");
    write("node/node0/cpulist", "0-1,4-5");
    write("node/node1/cpulist", "2-3,6-7");
  }
  void write(const std::string& name, const std::string& line) const {
    std::filesystem::create_directories((scratch_ / name).parent_path());
    write_text(scratch_ / name, line + "\n");
  }
  RankPlace place(std::size_t threads, const std::string& cpus, const std::string& host = "a") const {
    RankPlace place{host, threads, cpus};
    locate(place, scratch_.path());
    return place;
  }
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
      ElementsAre("[comm] c: 1 rank, 8 threads on 4 cores, CPUs 0-7 (NUMA domains 0-1)",
                  "[comm] each of 2 hosts (a, b): 2 ranks, 4 threads on 4 cores, CPUs 0-1 (NUMA domain 0) | 2-3 (NUMA "
                  "domain 1)",
                  StartsWith("[comm] warning: gradients cross the network before they are summed within a host")));
  EXPECT_EQ(describe({place(2, "0-1"), place(2, "2-3"), place(2, "0-1", "b"), place(2, "2-3", "b")}).size(), 1U);
  EXPECT_EQ(describe({place(2, "0-1"), place(2, "0-1", "b")}).size(), 1U);
  EXPECT_THAT(describe({{"a", 4, "0-3"}}), ElementsAre("[comm] a: 1 rank, 4 threads, CPUs 0-3"));
}

TEST_F(Topology, NamesBindingsThatAreSlow) {
  EXPECT_THAT(slow_bindings({place(2, "0-1"), place(2, "2-3")}), IsEmpty());
  EXPECT_THAT(slow_bindings({place(2, "0-1"), place(2, "0,4"), place(8, "0-7")}),
              ElementsAre("rank 1 on a has 2 threads on 1 core", "rank 2 on a has CPUs in the NUMA domains 0-1"));
  EXPECT_THAT(slow_bindings({{"a", 8, "0-3"}}), IsEmpty());  // cores not known
}

const NodeFacts kA{"a", "avx512", "amx"}, kB{"b", "avx512", "amx"}, kOlder{"c", "avx2", ""};

TEST(SiteCheck, CountsRanksByHost) {
  const auto finding = ranks_finding({kA, kA, kB}, 0, "MPI 1");
  EXPECT_EQ(finding.level, Level::kOk);
  EXPECT_EQ(finding.text, "3 ranks on 2 hosts (a: 2, b: 1), MPI 1");
  EXPECT_EQ(ranks_finding({kA, kA}, 2, "").level, Level::kOk);
  EXPECT_EQ(ranks_finding({kA, kA}, 8, "").level, Level::kWarning);
  EXPECT_THAT(ranks_finding({kA, kA}, 8, "").text, HasSubstr("SLURM granted 8 tasks"));
}

TEST_F(Topology, NamesCpusThatNoRankMayUse) {
  std::vector<RankPlace> places{place(1, "0"), place(1, "1"), place(8, "0-7", "b")};
  EXPECT_EQ(idle_cpus(places), "") << "not known";
  for (auto& place : places) place.cpus_of_job = 8;
  EXPECT_EQ(idle_cpus(places), "a has 8 CPUs for this job, and its 2 ranks may use 2");
  std::swap(places[0], places[2]);
  EXPECT_EQ(idle_cpus(places), "a has 8 CPUs for this job, and its 2 ranks may use 2");
  places[1] = place(1, "1-3"), places[2] = place(1, "0");
  places[1].cpus_of_job = 8;
  EXPECT_EQ(idle_cpus(places), "") << "the other threads of the cores may be idle on purpose";
  places.resize(2);
  EXPECT_EQ(idle_cpus(places), "a has 8 CPUs for this job, and its 1 rank may use 3");
  places[0].quota.cpus = places[1].quota.cpus = 1.5;
  EXPECT_EQ(idle_cpus(places), "");
}

TEST(SiteCheck, WarnsOfHostsThatComputeDifferently) {
  for (const auto& finding : processor_findings({kA, kB})) EXPECT_EQ(finding.level, Level::kOk) << finding.text;
  const auto findings = processor_findings({kA, kB, kOlder});
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].level, Level::kOk) << "their bits are the same";
  EXPECT_THAT(findings[0].text, AllOf(HasSubstr("a has avx512"), HasSubstr("c has avx2")));
  EXPECT_EQ(processor_findings({kA, {"d", "sse2", ""}})[0].level, Level::kWarning);
  EXPECT_EQ(findings[1].level, Level::kWarning);
  EXPECT_THAT(findings[1].text, AllOf(HasSubstr("a has amx"), HasSubstr("c has none")));
  EXPECT_THAT(findings[1].next_step, AllOf(HasSubstr("--precision f32"), HasSubstr("a run in bf16 is rejected")));
}

TEST(SiteCheck, WarnsOfClocksThatAreApart) {
  EXPECT_EQ(clock_finding({kA, kB}, {0, 0.3}).level, Level::kOk);
  EXPECT_THAT(clock_finding({kA, kB, kOlder}, {0, 3, -40}).text, "that of c is 40.0 s behind that of a");
  EXPECT_THAT(clock_finding({kA, kB}, {0, 3}).text, "that of b is 3.0 s ahead of that of a");
}

TEST(SiteCheck, FailsOnlyWhereLocksAreAskedForAndDoNotWork) {
  EXPECT_EQ(lock_finding("", "TRUE").level, Level::kOk);
  EXPECT_EQ(lock_finding("No locks available", "TRUE").level, Level::kFailed);
  EXPECT_EQ(lock_finding("No locks available", "FALSE").level, Level::kOk);
  const auto unset = lock_finding("No locks available", "");
  EXPECT_EQ(unset.level, Level::kWarning);
  EXPECT_THAT(unset.next_step, HasSubstr("HDF5_USE_FILE_LOCKING=FALSE"));
}

TEST(SiteCheck, WarnsOfASlowNetworkButNotInsideAHost) {
  EXPECT_EQ(bandwidth_finding(4, 2, 0.05).level, Level::kWarning);
  EXPECT_EQ(bandwidth_finding(4, 2, 5).level, Level::kOk);
  EXPECT_EQ(bandwidth_finding(4, 1, 0.05).level, Level::kOk);
  EXPECT_THAT(bandwidth_finding(4, 2, 0.1).text, HasSubstr("3.2 s among 4 ranks"));
}

TEST(SiteCheck, FailsOnASumThatIsWrongAndSaysNothingOfItsBandwidth) {
  const auto findings = sum_findings({{8, 2e-6}, {64000000, 0}}, 4, 2);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].text, "8 bytes in 2.0 us");
  EXPECT_EQ(findings[1].level, Level::kFailed);
  EXPECT_EQ(findings[1].text, "64 MB: the sum is wrong");
  EXPECT_THAT(sum_findings({{64000000, 0.1}}, 4, 2).back().topic, "bandwidth");
}

TEST(SiteCheck, TriesAFolderAndLeavesNothingInIt) {
  const Scratch scratch;
  const comm::Communicator alone;
  for (const auto& finding : check_folder(alone, scratch.path()))
    EXPECT_NE(finding.level, Level::kFailed) << finding.topic << ": " << finding.text;
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
  const auto findings = check_folder(alone, scratch / "nowhere");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].level, Level::kFailed);
  EXPECT_THAT(findings[0].text, HasSubstr("nowhere is not a folder"));
}

}  // namespace
}  // namespace rnnsearch::site
