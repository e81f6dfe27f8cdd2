#include "rnnsearch/base/machine.h"

#include "rnnsearch/base/stopwatch.h"
#include "tests/support/test.h"

namespace rnnsearch {
namespace {

struct Machine {
  std::map<std::string, std::string> files;  // by name
  double cpus;                               // expected
  std::string file;                          // in which they are stated
};

TEST(CpuQuota, IsTheSmallestOfTheCgroupsAroundTheProcess) {
  const std::string fs = "sys/fs/cgroup", cgroup = "proc/self/cgroup";
  const std::vector<Machine> machines{
      {{}, 0, ""},
      {{{cgroup, "0::/\n"}, {fs + "/cpu.max", "50000 100000\n"}}, 0.5, fs + "/cpu.max"},  // in a container
      {{{cgroup, "0::/a/b\n"}, {fs + "/a/cpu.max", "150000 100000\n"}, {fs + "/a/b/cpu.max", "max 100000\n"}},
       1.5,
       fs + "/a/cpu.max"},
      {{{cgroup, "0::/a/b\n"}, {fs + "/a/cpu.max", "400000 100000\n"}, {fs + "/a/b/cpu.max", "25000 50000\n"}},
       0.5,
       fs + "/a/b/cpu.max"},
      {{{cgroup, "1:cpu:/\n0::/j\n"}, {fs + "/unified/j/cpu.max", "1000 1000\n"}}, 1, fs + "/unified/j/cpu.max"},
      {{{cgroup, "4:memory:/x\n3:cpu,cpuacct:/job\n"},
        {fs + "/cpu,cpuacct/job/cpu.cfs_quota_us", "200000\n"},
        {fs + "/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n"},
        {fs + "/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
        {fs + "/cpu,cpuacct/cpu.cfs_period_us", "100000\n"}},
       2,
       fs + "/cpu,cpuacct/job/cpu.cfs_quota_us"},
      // The path is that on the host, and the container's cgroup is at the mount.
      {{{cgroup, "3:cpuacct,cpu:/docker/0123\n"},
        {fs + "/cpu/cpu.cfs_quota_us", "30000\n"},
        {fs + "/cpu/cpu.cfs_period_us", "100000\n"}},
       0.3,
       fs + "/cpu/cpu.cfs_quota_us"},
      {{{cgroup, "7:cpuset:/j\nnonsense\n"}, {fs + "/cpuset/j/cpu.cfs_quota_us", "1\n"}}, 0, ""},
      {{{cgroup, "0::/\n"}, {fs + "/cpu.max", "nonsense\n"}}, 0, ""},
  };
  for (const Machine& machine : machines) {
    const Scratch root;
    for (const auto& [name, content] : machine.files) {
      std::filesystem::create_directories((root / name).parent_path());
      write_text(root / name, content);
    }
    const CpuQuota quota = cpu_quota(root.path());
    const std::string shown = testing::PrintToString(machine.files);
    EXPECT_DOUBLE_EQ(quota.cpus, machine.cpus) << shown;
    EXPECT_EQ(quota.file, machine.file.empty() ? "" : (root / machine.file).string()) << shown;
    EXPECT_EQ(quota.cgroup != 0, machine.cpus > 0) << shown;
  }
}

void wait() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

TEST(PhaseTimes, CountNoSecondTwice) {
  PhaseTimes times;
  const Stopwatch watch;
  {
    const PhaseTimes::Scope decoder(&times, Phase::kDecoder);
    wait();
    for (int i = 0; i < 2; ++i) {
      const PhaseTimes::Scope attention(&times, Phase::kAttention);
      wait();
    }
    wait();
  }
  const double inside = watch.seconds();
  wait();  // belongs to no phase
  EXPECT_GE(times.seconds(Phase::kDecoder), 0.04);
  EXPECT_GE(times.seconds(Phase::kAttention), 0.04);
  EXPECT_EQ(times.seconds(Phase::kEncoder), 0);
  EXPECT_LE(times.seconds(), inside);
  EXPECT_NEAR(times.seconds(), times.seconds(Phase::kDecoder) + times.seconds(Phase::kAttention), 1e-9);
  times.clear();
  EXPECT_EQ(times.seconds(), 0);
}

TEST(PhaseTimes, CountOneAfterTheOtherInOneScope) {
  PhaseTimes times;
  const Stopwatch watch;
  {
    PhaseTimes::Scope scope(&times, Phase::kPacking);
    wait();
    scope.change(Phase::kEncoder);
    wait();
  }
  EXPECT_GE(times.seconds(Phase::kPacking), 0.02);
  EXPECT_GE(times.seconds(Phase::kEncoder), 0.02);
  EXPECT_LE(times.seconds(), watch.seconds());
}

TEST(PhaseTimes, MayBeAbsent) {
  PhaseTimes times;
  {
    const PhaseTimes::Scope decoder(&times, Phase::kDecoder);
    PhaseTimes::Scope absent(nullptr, Phase::kPacking);
    wait();
    absent.change(Phase::kEncoder);
    wait();
  }
  EXPECT_GE(times.seconds(Phase::kDecoder), 0.04) << "a scope without times interrupts nobody's phase";
  EXPECT_EQ(times.seconds(), times.seconds(Phase::kDecoder));
}

}  // namespace
}  // namespace rnnsearch
