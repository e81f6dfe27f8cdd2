// Interruptible input from pipes and terminals, which may never deliver data.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <istream>
#include <streambuf>
#include <string>
#include <utility>

namespace rnnsearch {

/// Called several times a second while a read waits, and at least once for each part that it reads. An exception that
/// it throws ends the reading and reaches the caller.
using Poll = std::function<void()>;

/// Reads a file descriptor through poll(2), so that a waiting program can react to signals.
class WaitingInput : public std::streambuf {
 public:
  /// Does not close the descriptor. name: its name in errors.
  WaitingInput(int descriptor, std::string name, Poll poll);
  /// Opens a named pipe without waiting for its writer. Throws Error if it cannot be read.
  WaitingInput(const std::filesystem::path& path, Poll poll);
  ~WaitingInput() override;
  WaitingInput(const WaitingInput&) = delete;
  WaitingInput& operator=(const WaitingInput&) = delete;

 protected:
  int_type underflow() override;

 private:
  int descriptor_, owned_ = -1;
  std::string name_;
  Poll poll_;
  std::array<char, 1 << 16> buffer_;
};

/// A stream over WaitingInput that throws the exceptions of its buffer.
class WaitingStream : public std::istream {
 public:
  template <class... Arguments>
  explicit WaitingStream(Arguments&&... of_buffer)
      : std::istream(nullptr), buffer_(std::forward<Arguments>(of_buffer)...) {
    rdbuf(&buffer_);
    exceptions(badbit);
  }

 private:
  WaitingInput buffer_;
};

}  // namespace rnnsearch
