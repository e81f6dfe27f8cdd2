#include "rnnsearch/base/machine.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <vector>

namespace rnnsearch {
namespace {

namespace fs = std::filesystem;

/// The CPUs that the files of this cgroup grant; 0 if they grant all.
CpuQuota quota_of(const fs::path& cgroup) {
  double quota = 0, period = 0;
  fs::path file = cgroup / "cpu.max";  // "50000 100000", or "max 100000"; "max" is no number
  if (std::ifstream stream(file); !(stream >> quota >> period)) {
    file = cgroup / "cpu.cfs_quota_us";  // -1: none
    if (!(std::ifstream(file) >> quota) || !(std::ifstream(cgroup / "cpu.cfs_period_us") >> period)) return {};
  }
  struct stat status {};
  if (!(quota > 0 && period > 0) || ::stat(cgroup.c_str(), &status) != 0) return {};
  return {quota / period, status.st_ino, file.string()};
}

/// Where cgroups with these controllers may be mounted: cgroups(7); version 2 has an empty list of controllers.
std::vector<fs::path> mounts_of(const std::string& controllers) {
  if (controllers.empty()) return {"sys/fs/cgroup", "sys/fs/cgroup/unified"};
  if (("," + controllers + ",").find(",cpu,") == std::string::npos) return {};
  return {"sys/fs/cgroup/" + controllers, "sys/fs/cgroup/cpu"};
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string boot_id() {
  std::ifstream stream("/proc/sys/kernel/random/boot_id");
  std::string id;
  stream >> id;
  return id;
}

std::string allowed_cpu_list(pid_t process) {
  // A process of a container may have another number in /proc.
  std::ifstream status(process == ::getpid() ? "/proc/self/status" : "/proc/" + std::to_string(process) + "/status");
  std::string name, list, active;
  while (status >> name && name != "Cpus_allowed_list:") {
  }
  status >> list;
  // The list also has CPUs that are offline, or that a virtual machine may get later.
  std::array<cpu_set_t, 8> mask{};
  if (::sched_getaffinity(process, sizeof mask, mask.data()) != 0) return list;
  const std::set<int> allowed = cpus_of(list);
  const auto is_active = [&](int cpu) { return CPU_ISSET_S(static_cast<std::size_t>(cpu), sizeof mask, mask.data()); };
  if (std::ranges::all_of(allowed, is_active)) return list;
  for (const int cpu : allowed)
    if (is_active(cpu)) (active += active.empty() ? "" : ",") += std::to_string(cpu);
  return active;
}

std::set<int> cpus_of(const std::string& list) {
  std::set<int> cpus;
  std::istringstream ranges(list);
  for (std::string range; std::getline(ranges, range, ',');) {
    std::istringstream numbers(range);
    int first = 0, last = 0;
    char dash = 0;
    if (!(numbers >> first)) continue;
    if (!(numbers >> dash >> last)) last = first;
    for (int cpu = first; cpu <= last; ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

CpuQuota cpu_quota(const fs::path& root) {
  CpuQuota least;
  std::ifstream lines(root / "proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {  // "4:cpu,cpuacct:/job", in version 2 "0::/job"
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos) continue;
    for (const fs::path& mount : mounts_of(line.substr(first + 1, second - first - 1))) {
      // In a container the path may be that of the host, of which the mount shows only the end: the cgroup at the
      // mount.
      fs::path path = fs::path(line.substr(second + 1)).relative_path();
      for (bool top = false; !top; path = path.parent_path()) {
        top = path.empty();
        const CpuQuota quota = quota_of(root / mount / path);
        if (quota && (!least || quota.cpus < least.cpus)) least = quota;
      }
    }
  }
  return least;
}

}  // namespace rnnsearch
