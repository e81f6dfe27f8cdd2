// Input that may never come.
#pragma once

#include <array>
#include <streambuf>

namespace rnnsearch::cli {

/// A file descriptor read through poll(2), so that a signal ends the wait: the stream is then at its end, and
/// signal_came() says why. The descriptor stays open.
class WaitingInput : public std::streambuf {
 public:
  explicit WaitingInput(int descriptor) : descriptor_(descriptor) {}

 protected:
  int_type underflow() override;

 private:
  int descriptor_;
  std::array<char, 1 << 16> buffer_;
};

}  // namespace rnnsearch::cli
