#include "rnnsearch/site/site_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/scratch.h"

namespace rnnsearch::site {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

const NodeFacts kA{"a", "avx512", "amx", 64}, kB{"b", "avx512", "amx", 64}, kOlder{"c", "avx2", "", 32};

TEST(SiteCheck, CountsRanksByHost) {
  const auto finding = ranks_finding({kA, kA, kB}, 0, "MPI 1");
  EXPECT_EQ(finding.level, Level::kOk);
  EXPECT_EQ(finding.text, "3 ranks on 2 hosts (a: 2, b: 1), MPI 1");
  EXPECT_EQ(ranks_finding({kA, kA}, 2, "").level, Level::kOk);
  EXPECT_EQ(ranks_finding({kA, kA}, 8, "").level, Level::kWarning);
  EXPECT_THAT(ranks_finding({kA, kA}, 8, "").text, HasSubstr("SLURM granted 8 tasks"));
}

TEST(SiteCheck, WarnsOfCpusThatNoRankMayUse) {
  EXPECT_THAT(cpus_findings({kA, kA, kB}, {64, 64}), IsEmpty());
  const auto findings = cpus_findings({kA, kA, kB}, {2, 64});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].level, Level::kWarning);
  EXPECT_EQ(findings[0].text, "a has 64 CPUs for this job, and its 2 ranks may use 2");
  EXPECT_THAT(findings[0].next_step,
              HasSubstr(comm::library_is_open_mpi() ? "mpirun --bind-to none" : "mpiexec -bind-to none"));
}

TEST(SiteCheck, WarnsOfHostsThatComputeDifferently) {
  for (const auto& finding : processor_findings({kA, kB})) EXPECT_EQ(finding.level, Level::kOk) << finding.text;
  const auto findings = processor_findings({kA, kB, kOlder});
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].level, Level::kWarning);
  EXPECT_THAT(findings[0].text, AllOf(HasSubstr("a has avx512"), HasSubstr("c has avx2")));
  EXPECT_THAT(findings[0].next_step, HasSubstr("RNNSEARCH_SIMD=avx2"));
  EXPECT_EQ(findings[1].level, Level::kWarning);
  EXPECT_THAT(findings[1].text, AllOf(HasSubstr("a has amx"), HasSubstr("c has none")));
  EXPECT_THAT(findings[1].next_step, HasSubstr("--precision f32"));
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
  for (const auto& finding : check_folder(alone, scratch.path())) {
    EXPECT_NE(finding.level, Level::kFailed) << finding.topic << ": " << finding.text;
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
  const auto findings = check_folder(alone, scratch / "nowhere");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].level, Level::kFailed);
  EXPECT_THAT(findings[0].text, HasSubstr("nowhere is not a folder"));
}

}  // namespace
}  // namespace rnnsearch::site
