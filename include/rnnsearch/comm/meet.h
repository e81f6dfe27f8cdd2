// Agreement of all ranks on results and errors: each rank does a step, the root compares the outcomes, and either all
// ranks continue or all throw the same exception. All functions here are COLLECTIVE, and are called by the thread that
// created the communicator.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/comm/communicator.h"

namespace rnnsearch::comm {

/// An error that is thrown on all ranks with the same text. The root prints it, and all ranks exit normally with code
/// 1, or 2 for a usage error.
class AgreedError : public Error {
 public:
  explicit AgreedError(const std::string& what, bool of_usage = false) : Error(what), of_usage_(of_usage) {}
  /// Whether the original exception was a UsageError.
  bool of_usage() const { return of_usage_; }

 private:
  bool of_usage_;
};

/// Thrown on all ranks when SIGTERM or SIGUSR1 asked one of them to stop. The root prints a message, and all ranks exit
/// normally.
class Stopped : public std::runtime_error {
 public:
  explicit Stopped(const std::string& what = "a signal asked to stop; nothing was written")
      : std::runtime_error(what) {}
};

/// The outcome of `act` on one rank: the text that it returned, the exception that it threw (std::bad_alloc as
/// kNoMemory, UsageError as kUsageError), or that it was Interrupted.
struct Outcome {
  enum class Kind : std::uint8_t { kDone, kFailed, kUsageError, kInterrupted };
  Kind kind = Kind::kDone;
  std::string text;  // empty if interrupted
  std::string host;  // of the rank

  static auto fields(auto& outcome) { return std::tie(outcome.kind, outcome.text, outcome.host); }  // for Packer
  bool done() const { return kind == Kind::kDone; }
  bool failed() const { return kind == Kind::kFailed || kind == Kind::kUsageError; }
  bool interrupted() const { return kind == Kind::kInterrupted; }
  /// For a failed outcome: throws `words` as a UsageError or an Error, whichever `act` threw.
  [[noreturn]] void fail(const std::string& words) const;
};

/// Runs `act` on every rank, and then `conclude` on the root with the outcomes in rank order. Returns the result of
/// `conclude` on every rank. An exception of `conclude` is thrown on all ranks: Stopped as Stopped, anything else as
/// AgreedError. With one rank nothing is sent.
std::string meet(const Communicator& communicator, const std::function<std::string()>& act,
                 const std::function<std::string(std::span<const Outcome>)>& conclude);

/// A step that every rank does independently, with a result that must be the same on all ranks.
struct Step {
  std::string thing;   // "corpus /data/de-en.h5"
  std::string advice;  // the next step of a user whose ranks do not find the same
  /// Returns what this rank found, as a text for comparison and for messages: "the fingerprint 0123abcd". Empty:
  /// nothing to compare. May throw Error.
  std::function<std::string()> run;
};

/// Runs the step on every rank. Throws Stopped if a rank received a signal. Throws AgreedError if the step failed on a
/// rank (with the text of that error, and with rank and host unless it was the root), or if two ranks found different
/// things (the message names the first rank that differs, its host, what it found and what rank 0 found).
void agree(const Communicator& communicator, const Step& step);

/// Runs `act` on the root only and returns its text on every rank. Throws AgreedError if it failed, and Stopped if some
/// rank received a signal.
std::string at_root(const Communicator& communicator, const std::function<std::string()>& act);
/// The same for an `act` that returns nothing.
void root_does(const Communicator& communicator, const std::function<void()>& act);

/// Throws AgreedError, naming the first line that differs, unless all ranks have the same lines as the root. If `lines`
/// throws on some rank, all ranks throw that error.
void agree_on_lines(const Communicator& communicator, const std::string& thing, const std::string& advice,
                    const std::function<std::vector<std::string>()>& lines);

/// Whether some rank received SIGTERM or SIGUSR1.
bool stop_signal_came_anywhere(const Communicator& communicator);

}  // namespace rnnsearch::comm
