// Ends a test that hangs, with a message.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace rnnsearch::support {

/// Aborts the process after `timeout_seconds` unless destroyed before. Under mpirun one aborted rank ends them all, so
/// every rank needs one. `what` names what hung, and the rank.
class Watchdog {
 public:
  Watchdog(double timeout_seconds, std::string what)
      : thread_([this, timeout_seconds, text = std::move(what)] { watch(timeout_seconds, text); }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch(double timeout_seconds, const std::string& what) {
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, std::chrono::duration<double>(timeout_seconds), [this] { return done_; })) return;
    std::fprintf(stderr, "watchdog: %s: not done after %g s; aborting\n", what.c_str(), timeout_seconds);
    std::fflush(stderr);
    std::abort();
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;  // last, because it uses the other members
};

}  // namespace rnnsearch::support
