#include "cli/waiting_input.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/agreement.h"
#include "rnnsearch/base/error.h"

namespace rnnsearch::cli {

WaitingInput::int_type WaitingInput::underflow() {
  // A signal between the look and the wait would be missed, so the wait is short.
  constexpr int kMilliseconds = 200;
  while (!signal_came()) {
    pollfd wanted{descriptor_, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, kMilliseconds);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t count = ::read(descriptor_, buffer_.data(), buffer_.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(std::strerror(errno));  // std::istream makes badbit of it, and errno stays
    if (count == 0) break;
    setg(buffer_.data(), buffer_.data(), buffer_.data() + count);
    return traits_type::to_int_type(buffer_[0]);
  }
  return traits_type::eof();
}

}  // namespace rnnsearch::cli
