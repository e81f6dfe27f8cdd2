// SIGTERM and SIGUSR1 ask a trainer to write a checkpoint and stop: clusters send one or the other, alike.
#pragma once

#include <csignal>

namespace rnnsearch::train {

/// Catches both signals from construction to destruction. At most one exists at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The signal that came, 0 for none. Any thread.
  int received() const;

 private:
  struct sigaction former_terminate_ {
  }, former_user_{};
};

}  // namespace rnnsearch::train
