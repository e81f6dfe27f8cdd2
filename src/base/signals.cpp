#include "rnnsearch/base/signals.h"

#include <atomic>
#include <csignal>
#include <ctime>
#include <iterator>
#include <mutex>

namespace rnnsearch {
namespace {

std::atomic<int> signal_received = 0;  // set by the handler, read by all threads
static_assert(std::atomic<int>::is_always_lock_free);

struct Caught {
  int signal;
  bool always;  // also where the program was started with the signal ignored, or something else handles it
};
// What ends a process by default, but errors, PIPE and XFSZ (cli/command.cpp, cli/train.cpp), asks the program to stop.
// Schedulers send TERM, USR1, USR2, XCPU or INT; a terminal that closes sends HUP.
constexpr Caught kCaught[]{{SIGTERM, true},  {SIGUSR1, true},  {SIGUSR2, false},  {SIGINT, false},    {SIGHUP, false},
                           {SIGQUIT, false}, {SIGXCPU, false}, {SIGALRM, false},  {SIGVTALRM, false}, {SIGPROF, false},
                           {SIGPOLL, false}, {SIGPWR, false},  {SIGSTKFLT, false}};

volatile std::time_t interrupted_at = 0;

extern "C" void remember(int signal) {
  if (signal == SIGINT) {
    const std::time_t now = std::time(nullptr);
    if (interrupted_at == 0) interrupted_at = now;
    if (now - interrupted_at > 1) {  // later than a launcher that passes on what the terminal has sent, too
      ::signal(SIGINT, SIG_DFL);
      ::raise(SIGINT);
    }
  }
  signal_received = signal;
}

std::mutex mutex;  // guards the variables below
int alive = 0;
struct sigaction former[std::size(kCaught)]{};

}  // namespace

StopSignals::StopSignals() {
  const std::lock_guard lock(mutex);
  if (alive++ > 0) return;
  signal_received = 0;
  interrupted_at = 0;
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART;  // interrupted reads and writes are restarted
  for (std::size_t i = 0; i < std::size(kCaught); ++i) {
    ::sigaction(kCaught[i].signal, nullptr, &former[i]);
    if (kCaught[i].always || former[i].sa_handler == SIG_DFL) ::sigaction(kCaught[i].signal, &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  const std::lock_guard lock(mutex);
  if (--alive > 0) return;
  for (std::size_t i = 0; i < std::size(kCaught); ++i) ::sigaction(kCaught[i].signal, &former[i], nullptr);
  signal_received = 0;
}

int StopSignals::received() const { return signal_received; }

void catch_stop_signals() {
  // Never destroyed: a signal that comes while the program leaves must not turn its success into failure.
  static const StopSignals* const signals = new StopSignals;
  static_cast<void>(signals);
}

bool stop_signal_came() { return signal_received != 0; }

void stop_if_signal_came() {
  if (stop_signal_came()) throw Interrupted();
}

}  // namespace rnnsearch
