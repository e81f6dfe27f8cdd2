// Every rank acts for itself, the root compares what they found, and all go on or end alike. All functions here are
// COLLECTIVE, are called by the thread that created the Environment, and throw on all ranks alike.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/comm/communicator.h"

namespace rnnsearch::comm {

/// Thrown on all ranks with the same words: the root says them, and all end in order with exit code 1, or 2 for an
/// error of usage.
class AgreedError : public Error {
 public:
  explicit AgreedError(const std::string& what, bool of_usage = false) : Error(what), of_usage_(of_usage) {}
  /// Whether it began as a UsageError.
  bool of_usage() const { return of_usage_; }

 private:
  bool of_usage_;
};

/// Thrown on all ranks when SIGTERM or SIGUSR1 asked one of them to stop: the root says it, and all end in order.
class Stopped : public std::runtime_error {
 public:
  explicit Stopped(const std::string& what = "a signal asked to stop; nothing was written")
      : std::runtime_error(what) {}
};

/// What became of one rank's act: its text; what it threw (std::bad_alloc as kNoMemory, UsageError as kMisused); or
/// that it was Interrupted.
struct Outcome {
  enum class Kind : std::uint8_t { kDone, kFailed, kMisused, kInterrupted };
  Kind kind = Kind::kDone;
  std::string text;  // empty if interrupted
  std::string host;  // of the rank

  bool done() const { return kind == Kind::kDone; }
  bool failed() const { return kind == Kind::kFailed || kind == Kind::kMisused; }
  bool interrupted() const { return kind == Kind::kInterrupted; }
  /// For one that failed: throws `words` as a UsageError or an Error, as the act did.
  [[noreturn]] void fail(const std::string& words) const;
};

/// Runs `act` on every rank and `conclude` on the root, with the outcomes in rank order. Returns what `conclude`
/// returns on every rank. What it throws, all ranks throw: Stopped as Stopped, anything else as AgreedError. In a world
/// of one nothing is sent.
std::string meet(const Communicator& world, const std::function<std::string()>& act,
                 const std::function<std::string(std::span<const Outcome>)>& conclude);

/// What every rank does for itself and all must find alike.
struct Step {
  std::string thing;   // "corpus /data/de-en.h5"
  std::string advice;  // the next step of a user whose ranks do not find the same
  /// What this rank has, for comparison and for people: "the fingerprint 0123abcd"; empty: nothing to compare. May
  /// throw Error.
  std::function<std::string()> run;
};

/// Runs the step everywhere. Throws Stopped when a signal came to one rank; AgreedError when the step failed (with the
/// rank's own words if it failed on the root, else with rank and host too), or when two ranks have different things
/// (naming the first rank that differs, its host, what it has and what rank 0 has).
void agree(const Communicator& world, const Step& step);

/// Runs `act` on the root alone and returns its text on every rank. Throws AgreedError when it failed, Stopped when a
/// signal came to some rank.
std::string at_root(const Communicator& world, const std::function<std::string()>& act);
/// The same for an act without a text.
void root_does(const Communicator& world, const std::function<void()>& act);

/// Throws AgreedError, naming the first line that differs on some rank, unless all ranks have the root's lines. If
/// `lines` throws on some rank, all ranks throw that.
void agree_on_lines(const Communicator& world, const std::string& thing, const std::string& advice,
                    const std::function<std::vector<std::string>()>& lines);

/// Whether SIGTERM or SIGUSR1 came to some rank.
bool stop_signal_came_anywhere(const Communicator& world);

}  // namespace rnnsearch::comm
