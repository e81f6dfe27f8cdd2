// SIGTERM and SIGUSR1 both ask the program to stop in an orderly way; which one a cluster sends depends on its setup.
#pragma once

namespace rnnsearch::train {

/// Catches both signals while at least one such object exists, and remembers a signal until the last object is
/// destroyed. The program creates one when it starts, and the trainer another one.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The signal that was received, or 0. May be called from any thread.
  int received() const;
};

}  // namespace rnnsearch::train
