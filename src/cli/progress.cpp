#include "cli/progress.h"

#include <unistd.h>

#include <iostream>

namespace rnnsearch::cli {

Progress::Progress(bool quiet)
    : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1), shown_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (live_) std::cerr << "\n";
}

void Progress::show(const std::string& line) {
  const auto now = std::chrono::steady_clock::now();
  if (quiet_ || now - shown_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(15))) return;
  shown_ = now;
  std::cerr << (terminal_ ? "\r\x1b[K" + line : line + "\n") << std::flush;
  live_ = terminal_;
}

void Progress::say(const std::string& line) {
  if (quiet_) return;
  std::cerr << (live_ ? "\r\x1b[K" : "") + line + "\n" << std::flush;
  live_ = false;
}

}  // namespace rnnsearch::cli
