#include "rnnsearch/base/waiting_input.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "rnnsearch/base/error.h"

namespace rnnsearch {
namespace {

// A signal that arrives between poll_() and ::poll() is not noticed until ::poll() returns, so its timeout is short.
constexpr int kMilliseconds = 200;

int open_without_waiting(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) throw Error("cannot read {}: {}", path, std::strerror(errno));
  return descriptor;
}

}  // namespace

WaitingInput::WaitingInput(int descriptor, std::string name, Poll poll)
    : descriptor_(descriptor), name_(std::move(name)), poll_(std::move(poll)) {}
WaitingInput::WaitingInput(const std::filesystem::path& path, Poll poll)
    : descriptor_(open_without_waiting(path)), owned_(descriptor_), name_(path.string()), poll_(std::move(poll)) {}
WaitingInput::~WaitingInput() {
  if (owned_ >= 0) ::close(owned_);
}

std::string_view WaitingInput::take() {
  for (;;) {
    if (poll_) poll_();
    pollfd wanted{descriptor_, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, kMilliseconds);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t count = ::read(descriptor_, buffer_.data(), buffer_.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) throw Error("cannot read {}: {}", name_, std::strerror(errno));
    return {buffer_.data(), static_cast<std::size_t>(count)};
  }
}

bool WaitingInput::ready() const {
  pollfd wanted{descriptor_, POLLIN, 0};
  return ::poll(&wanted, 1, 0) > 0;
}

}  // namespace rnnsearch
