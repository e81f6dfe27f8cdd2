// An attempt is a process that may write to the folder of a run. RUN/attempt identifies it.
#pragma once

#include <filesystem>
#include <string>

namespace rnnsearch::train {

/// Identifies this process and the folder of its run in one line: host, process id, start time of the process, because
/// ids are reused, and device and inode of the folder, because a copy of it is another run.
std::string this_attempt(const std::filesystem::path& run);

/// Whether the process of `attempt` runs on this machine, writes to this folder and is not this process. False for
/// processes of other machines, about which nothing is known.
bool lives_here(const std::string& attempt, const std::filesystem::path& run);

/// A lock (flock) on the file `attempt` of a run, until it is destroyed. A process that writes to the run shares it
/// from the moment when it reads its own name there; one that takes the run over holds it alone while it replaces the
/// name. Where lock_if_possible gives up, only a takeover within the same millisecond is not seen.
class AttemptLock {
 public:
  enum class Kind { kShared, kAlone };
  AttemptLock(const std::filesystem::path& run, Kind kind);
  ~AttemptLock();
  AttemptLock(const AttemptLock&) = delete;
  AttemptLock& operator=(const AttemptLock&) = delete;

 private:
  int file_;
};

}  // namespace rnnsearch::train
