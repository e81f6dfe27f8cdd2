// The signals that end a process by default ask the program to stop in an orderly way: which one a cluster sends
// depends on its setup. src/cli/commands/train.md has a table of them.
#pragma once

#include <exception>

namespace rnnsearch {

/// Catches these signals while at least one such object exists, and remembers a signal until the last object is
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

/// Catches them until the program ends, also while it leaves: a late signal does not turn success into failure.
void catch_stop_signals();
/// Whether one of them came; false while nothing catches them. May be called from any thread.
bool stop_signal_came();

/// Thrown by work that was asked to stop. It is no Error.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "a signal asked to stop"; }
};
/// Throws Interrupted if stop_signal_came(). For calls between the parts of long work.
void stop_if_signal_came();

}  // namespace rnnsearch
