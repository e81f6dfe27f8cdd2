// Locks of files and folders.
#pragma once

#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace rnnsearch {

/// flock(2) with LOCK_SH or LOCK_EX. Gives up after ten seconds, because the process that holds the lock may be stopped
/// for good, and then returns false; on a file system without locks it returns true at once.
inline bool lock_if_possible(int descriptor, int operation) {
  for (int tries = 0; ::flock(descriptor, operation | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++tries) {
    if (tries == 1000) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace rnnsearch
