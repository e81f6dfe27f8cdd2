// The CPUs that this process may use: their set, and the share of their time that a container or a batch system grants,
// which the set does not show.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

namespace rnnsearch {

/// The CPUs that this process may use, as Linux lists them: "0-3,8"; empty if /proc does not tell.
std::string allowed_cpu_list();
/// The CPUs of such a list.
std::set<int> cpus_of(const std::string& list);

struct CpuQuota {
  double cpus = 0;           // 0: no quota
  std::uint64_t cgroup = 0;  // the inode of the cgroup that has it: processes with the same one share the quota
  std::string file = "";     // that states it
  explicit operator bool() const { return cpus > 0; }
};

/// The smallest quota of this process's cgroup and of those around it, of version 1 (cpu.cfs_quota_us) or 2 (cpu.max).
/// root: the folder in which /proc and /sys are.
CpuQuota cpu_quota(const std::filesystem::path& root = "/");

}  // namespace rnnsearch
