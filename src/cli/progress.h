// Progress on standard error: one line that is rewritten on a terminal, a plain line now and then otherwise.
#pragma once

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <string>

namespace rnnsearch::cli {

/// Not to be shared by threads. `quiet`: says nothing (ranks other than the root).
class Progress {
 public:
  explicit Progress(bool quiet = false) : quiet_(quiet) {}
  /// Ends the live line.
  ~Progress() {
    if (live_) std::cerr << "\n";
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Shows `line` if the last one is old enough: 0.2 s on a terminal, 15 s elsewhere.
  void show(const std::string& line) {
    const auto now = std::chrono::steady_clock::now();
    if (quiet_ || now - shown_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(15))) return;
    shown_ = now;
    std::cerr << (terminal_ ? "\r\x1b[K" + line : line + "\n") << std::flush;
    live_ = terminal_;
  }
  /// Shows `line` at once, and it stays.
  void say(const std::string& line) {
    if (quiet_) return;
    std::cerr << (live_ ? "\r\x1b[K" : "") + line + "\n" << std::flush;
    live_ = false;
  }

 private:
  bool quiet_, terminal_ = ::isatty(STDERR_FILENO) == 1, live_ = false;
  std::chrono::steady_clock::time_point shown_ = std::chrono::steady_clock::now();
};

}  // namespace rnnsearch::cli
