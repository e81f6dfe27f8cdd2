#include "comm/time_limit.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "rnnsearch/base/log.h"
#include "rnnsearch/base/stopwatch.h"

namespace rnnsearch::comm {

TimeLimit::TimeLimit(double limit, std::string sentence, int exit_code) {
  if (limit <= 0) return;
  thread_ = std::jthread([seconds = limit, text = std::move(sentence), exit_code](std::stop_token met) mutable {
    constexpr double kTick = 1;
    std::mutex mutex;
    std::condition_variable_any changed;  // when it is met
    std::unique_lock lock(mutex);
    while (seconds > 0) {
      const Stopwatch watch;
      changed.wait_for(lock, met, std::chrono::duration<double>(std::min(kTick, seconds)), [] { return false; });
      if (met.stop_requested()) return;
      seconds -= std::min(kTick, watch.seconds());
    }
    if (!text.empty()) log_line(text);
    std::_Exit(exit_code);  // an MPI call, such as MPI_Abort, could wait here as well
  });
}

}  // namespace rnnsearch::comm
