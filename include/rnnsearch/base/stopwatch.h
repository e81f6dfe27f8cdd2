// Measures wall-clock time.
#pragma once

#include <chrono>

namespace rnnsearch {

class Stopwatch {
 public:
  /// Seconds since construction or the last lap; starts the next lap.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    return seconds;
  }
  /// Seconds since construction or the last lap.
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace rnnsearch
