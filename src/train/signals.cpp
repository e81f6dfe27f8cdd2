#include "rnnsearch/train/signals.h"

namespace rnnsearch::train {
namespace {

volatile std::sig_atomic_t signal_received = 0;

extern "C" void remember(int signal) {
  signal_received = signal;
}

}  // namespace

StopSignals::StopSignals() {
  signal_received = 0;
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART;  // reads and writes under way go on
  ::sigaction(SIGTERM, &action, &former_terminate_);
  ::sigaction(SIGUSR1, &action, &former_user_);
}

StopSignals::~StopSignals() {
  ::sigaction(SIGTERM, &former_terminate_, nullptr);
  ::sigaction(SIGUSR1, &former_user_, nullptr);
}

int StopSignals::received() const {
  return signal_received;
}

}  // namespace rnnsearch::train
