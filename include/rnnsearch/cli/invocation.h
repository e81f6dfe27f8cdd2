// One invocation of a command, in the steps that every command takes: read the command line, check it, work.
#pragma once

#include <functional>
#include <memory>

#include "rnnsearch/cli/options.h"
#include "rnnsearch/comm/communicator.h"

namespace rnnsearch::cli {

struct Invocation {
  /// All options of the command, bound onto its settings.
  Options options;
  /// Throws UsageError for options that need or exclude each other, and completes the settings. Reads no file.
  /// REQUIRES: options.parse() returned true.
  std::function<void()> check{};
  /// COLLECTIVE. Returns the exit code: 0 only on success. What the user or the machine caused is thrown as Error.
  /// REQUIRES: check().
  std::function<int(const comm::Communicator& communicator)> work{};
  /// Whether work() checks the files, too, when options.only_checks(), and writes nothing.
  bool checks_files = false;

  /// Reads and checks the command line. Returns whether work() is left to do: not if the arguments ask for help, which
  /// is then printed, or for a check that needs no files.
  bool begin(const Arguments& arguments) {
    if (!options.parse(arguments)) return false;
    check();
    return !options.only_checks() || checks_files;
  }
};

/// That of a command whose settings are an S, from its steps.
template <class S>
std::unique_ptr<Invocation> invocation_of(Options options, void (*declare)(Options& options, S& settings),
                                          void (*check)(const Options& options, S& settings),
                                          int (*work)(const Options& options, S& settings,
                                                      const comm::Communicator& communicator),
                                          bool checks_files = false) {
  auto invocation = std::make_unique<Invocation>(Invocation{std::move(options)});
  const auto settings = std::make_shared<S>();
  const Options& parsed = invocation->options;
  declare(invocation->options, *settings);
  invocation->check = [=, &parsed] { check(parsed, *settings); };
  invocation->work = [=, &parsed](const comm::Communicator& communicator) {
    return work(parsed, *settings, communicator);
  };
  invocation->checks_files = checks_files;
  return invocation;
}

}  // namespace rnnsearch::cli
