// Lines of a pipe or a terminal as they arrive, for a program that answers a line before the next one is written.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/line_limit.h"
#include "rnnsearch/base/waiting_input.h"

namespace rnnsearch::corpus {

struct ArrivedLine {
  std::string text;     // without its "\n"
  std::string problem;  // why it is not a valid line of text, such as "byte 3: not valid UTF-8"; empty if it is valid
};

/// Holds at most one line of the limit and 64 KiB beyond it, besides what next() returns. Not thread-safe.
class ArrivingLines {
 public:
  /// Does not close the descriptor. `name` and `poll` as of WaitingInput.
  ArrivingLines(int descriptor, std::string name, const LineLimit& limit, Poll poll);
  /// Waits until one line is complete, and returns it and the lines behind it that can be read without waiting, at most
  /// `count` in all; nothing at the end of the input. A last line without "\n" counts. A line that is not UTF-8, has a
  /// NUL byte or is longer than the limit is returned with its problem, and without its text if it is too long. Throws
  /// Error if reading fails, and what `poll` throws. REQUIRES: count > 0.
  std::vector<ArrivedLine> next(std::size_t count);

 private:
  class Arrivals : public WaitingInput {
   public:
    Arrivals(int descriptor, std::string name, Poll poll)
        : WaitingInput(descriptor, std::move(name), std::move(poll)), descriptor_(descriptor) {}
    /// Whether take() would return at once.
    bool ready() const;
    /// Waits, and returns the bytes that have arrived; empty at the end of the input. The result is valid until the
    /// next call.
    std::string_view take();

   private:
    int descriptor_;
  };

  bool take_line(std::vector<ArrivedLine>& lines);
  void end_line(std::vector<ArrivedLine>& lines);

  Arrivals arrivals_;
  LineLimit limit_;
  std::string_view rest_;  // of what arrived last: not yet looked at
  std::string line_;       // begun, its end has not arrived
  std::string too_long_;   // what is wrong with the line that has begun, whose text is then dropped
  bool ended_ = false;
};

}  // namespace rnnsearch::corpus
