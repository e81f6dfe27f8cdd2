// SIGTERM and SIGUSR1 ask for an end in order: clusters send one or the other, alike.
#pragma once

namespace rnnsearch::train {

/// Both signals are caught while at least one of these exists, and what came is remembered from the first to the last
/// of them: a program makes one first of all, a trainer inside it another.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The signal that came, 0 for none. Any thread.
  int received() const;
};

}  // namespace rnnsearch::train
