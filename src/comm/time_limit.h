// For calls of MPI that wait for other ranks while no progress thread watches: the first and the last one.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace rnnsearch::comm {

/// Must be destroyed within so many seconds (0: no limit). Else it logs the sentence and ends this process with the
/// exit code, at which the launcher ends the other ranks. Time in which the process stands still does not count.
class TimeLimit {
 public:
  TimeLimit(double seconds, std::string sentence, int exit_code = 1);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  void run(double seconds);

  const std::string sentence_;
  const int exit_code_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool met_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace rnnsearch::comm
