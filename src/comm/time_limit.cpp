#include "comm/time_limit.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "rnnsearch/base/log.h"

namespace rnnsearch::comm {

TimeLimit::TimeLimit(double seconds, std::string sentence, int exit_code)
    : sentence_(std::move(sentence)), exit_code_(exit_code) {
  if (seconds > 0) thread_ = std::thread([this, seconds] { run(seconds); });
}

TimeLimit::~TimeLimit() {
  {
    const std::lock_guard lock(mutex_);
    met_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void TimeLimit::run(double seconds) {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  constexpr double kTick = 1;
  std::unique_lock lock(mutex_);
  while (seconds > 0) {
    const auto from = Clock::now();
    if (changed_.wait_for(lock, Seconds(std::min(kTick, seconds)), [this] { return met_; })) return;
    seconds -= std::min(kTick, Seconds(Clock::now() - from).count());
  }
  if (!sentence_.empty()) log_line(sentence_);
  std::_Exit(exit_code_);  // an MPI call, such as MPI_Abort, could wait here as well
}

}  // namespace rnnsearch::comm
