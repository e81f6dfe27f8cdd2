// Progress on standard error: one line that is rewritten on a terminal, a plain line now and then otherwise.
#pragma once

#include <chrono>
#include <string>

namespace rnnsearch::cli {

/// Not to be shared by threads. `quiet`: says nothing (ranks other than the root).
class Progress {
 public:
  explicit Progress(bool quiet = false);
  /// Ends the live line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Shows `line` if the last one is old enough: 0.2 s on a terminal, 15 s elsewhere.
  void show(const std::string& line);
  /// Shows `line` at once, and it stays.
  void say(const std::string& line);

 private:
  bool quiet_, terminal_, live_ = false;
  std::chrono::steady_clock::time_point shown_;
};

}  // namespace rnnsearch::cli
