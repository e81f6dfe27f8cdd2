// How the ranks of a command begin alike, and how they end together when they cannot.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "rnnsearch/base/error.h"
#include "rnnsearch/cli/options.h"
#include "rnnsearch/comm/communicator.h"

namespace rnnsearch::cli {

/// "Stopped early": what batch scripts requeue on (EX_TEMPFAIL's neighbours are taken by shells and sysexits).
inline constexpr int kStoppedEarly = 85;

inline constexpr const char* kNoMemory =
    "there is not enough memory: give the process more, or take smaller batches or a smaller model";

/// Thrown on all ranks with the same words: the root says them, and all end in order with exit code 1.
class AgreedError : public Error {
  using Error::Error;
};

/// Thrown on all ranks when SIGTERM or SIGUSR1 asked to stop: the root says it, and all end in order with
/// kStoppedEarly.
class Stopped : public std::runtime_error {
 public:
  explicit Stopped(const std::string& what = "a signal asked to stop; nothing was written")
      : std::runtime_error(what) {}
};

/// From here on to the end of the program SIGTERM and SIGUSR1 are remembered instead of ending it.
void catch_signals();
/// One of them came to this rank; false while they are not caught.
bool signal_came();
/// Throws Interrupted, which is no Error, when one came: between the parts of long work, and inside of
/// `agree`.
void stop_if_signal_came();
/// COLLECTIVE. A signal came to some rank.
bool signal_came_anywhere(const comm::Communicator& world);

/// What every rank does for itself and all must find alike.
struct Step {
  std::string thing;   // "corpus /data/de-en.h5"
  std::string advice;  // the next step of a user whose ranks do not find the same
  /// What this rank has, for comparison and for people: "the fingerprint 0123abcd"; empty: nothing to compare. May
  /// throw Error.
  std::function<std::string()> run;
};

/// COLLECTIVE. Runs the step everywhere. Throws on all ranks alike: Stopped when a signal came to one of them;
/// AgreedError when the step failed (with the rank's own words if it failed on the root, else with rank and host too),
/// or when two ranks have different things (naming the first rank that differs, its host, what it has and what rank 0
/// has).
void agree(const comm::Communicator& world, const Step& step);

/// COLLECTIVE. AgreedError unless all ranks run the same executable, bit for bit.
void check_same_program(const comm::Communicator& world);

/// COLLECTIVE. AgreedError, naming the first option that differs, unless all ranks have the same values of all recorded
/// options: a configuration file may be another one on another host.
void check_same_options(const comm::Communicator& world, const Options& options);

}  // namespace rnnsearch::cli
