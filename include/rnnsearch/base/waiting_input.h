// Interruptible input from pipes and terminals, which may never deliver data.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace rnnsearch {

/// Called several times a second while a read waits, and at least once for each part that it reads. An exception that
/// it throws ends the reading and reaches the caller.
using Poll = std::function<void()>;

/// Bytes of a file, a pipe or a terminal, in order.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Waits for the next bytes and returns them, which are valid until the next call; empty at the end.
  virtual std::string_view take() = 0;
  /// Whether take() would return at once.
  virtual bool ready() const { return true; }
};

/// Reads a file descriptor through poll(2), so that a waiting program can react to signals.
class WaitingInput : public ByteStream {
 public:
  /// Does not close the descriptor. name: its name in errors.
  WaitingInput(int descriptor, std::string name, Poll poll);
  /// Opens a named pipe without waiting for its writer. Throws Error if it cannot be read.
  WaitingInput(const std::filesystem::path& path, Poll poll);
  ~WaitingInput() override;
  WaitingInput(const WaitingInput&) = delete;
  WaitingInput& operator=(const WaitingInput&) = delete;

  std::string_view take() override;
  bool ready() const override;

 private:
  int descriptor_, owned_ = -1;
  std::string name_;
  Poll poll_;
  std::array<char, 1 << 16> buffer_;
};

}  // namespace rnnsearch
