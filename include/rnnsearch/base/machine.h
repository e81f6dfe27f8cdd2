// The machine that this process runs on, and the CPUs that it may use: their set, and the share of their time that a
// container or a batch system grants, which the set does not show.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

namespace rnnsearch {

/// The name of this host, as gethostname(2) tells it. May be called from any thread.
std::string host_name();
/// Identifies the running kernel, and so the machine: hosts may share a name, and containers of one machine may have
/// several. Empty if the system does not tell it.
std::string boot_id();

/// The CPUs that are online and that a process may use, by default this one: "0-3,8"; empty if Linux does not tell.
std::string allowed_cpu_list(pid_t process = ::getpid());
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
