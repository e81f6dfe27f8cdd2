#include "rnnsearch/base/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "tests/support/scratch.h"

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
      std::ofstream(root / name) << content;
    }
    const CpuQuota quota = cpu_quota(root.path());
    const std::string shown = testing::PrintToString(machine.files);
    EXPECT_DOUBLE_EQ(quota.cpus, machine.cpus) << shown;
    EXPECT_EQ(quota.file, machine.file.empty() ? "" : (root / machine.file).string()) << shown;
    EXPECT_EQ(quota.cgroup != 0, machine.cpus > 0) << shown;
  }
}

}  // namespace
}  // namespace rnnsearch
