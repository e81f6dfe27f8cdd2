#include "rnnsearch/base/signals.h"

#include <csignal>
#include <mutex>

namespace rnnsearch {
namespace {

volatile std::sig_atomic_t signal_received = 0;

extern "C" void remember(int signal) {
  signal_received = signal;
}

std::mutex mutex;  // guards the variables below
int alive = 0;
struct sigaction former_terminate {
}, former_user{};

}  // namespace

StopSignals::StopSignals() {
  const std::lock_guard lock(mutex);
  if (alive++ > 0) return;
  signal_received = 0;
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART;  // interrupted reads and writes are restarted
  ::sigaction(SIGTERM, &action, &former_terminate);
  ::sigaction(SIGUSR1, &action, &former_user);
}

StopSignals::~StopSignals() {
  const std::lock_guard lock(mutex);
  if (--alive > 0) return;
  ::sigaction(SIGTERM, &former_terminate, nullptr);
  ::sigaction(SIGUSR1, &former_user, nullptr);
  signal_received = 0;
}

int StopSignals::received() const {
  return signal_received;
}

void catch_stop_signals() {
  // Never destroyed: a signal that comes while the program leaves must not turn its success into failure.
  static const StopSignals* const signals = new StopSignals;
  static_cast<void>(signals);
}

bool stop_signal_came() {
  return signal_received != 0;
}

void stop_if_signal_came() {
  if (stop_signal_came()) throw Interrupted();
}

}  // namespace rnnsearch
