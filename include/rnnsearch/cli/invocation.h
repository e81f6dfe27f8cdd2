// One invocation of a command, in the steps that every command takes: read the command line, check it, work.
#pragma once

#include <string>
#include <utility>

#include "rnnsearch/cli/options.h"
#include "rnnsearch/comm/communicator.h"

namespace rnnsearch::cli {

class Invocation {
 public:
  Invocation(std::string command, std::string about, std::string example)
      : options_(std::move(command), std::move(about), std::move(example)) {}
  virtual ~Invocation() = default;
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;

  /// All options of the command, bound onto settings that this object owns.
  Options& options() { return options_; }
  /// Throws UsageError for options that need or exclude each other, and completes the settings. Reads no file.
  /// REQUIRES: options().parse() returned true.
  virtual void check() = 0;
  /// COLLECTIVE. Returns the exit code: 0 only on success. What the user or the machine caused is thrown as Error.
  /// REQUIRES: check().
  virtual int work(const comm::Communicator& communicator) = 0;
  /// Whether work() checks the files, too, when options().only_checks(), and writes nothing.
  virtual bool checks_files() const = 0;

  /// Reads and checks the command line. Returns whether work() is left to do: not if the arguments ask for help, which
  /// is then printed, or for a check that needs no files.
  bool begin(const Arguments& arguments) {
    if (!options_.parse(arguments)) return false;
    check();
    return !options_.only_checks() || checks_files();
  }

 private:
  Options options_;
};

}  // namespace rnnsearch::cli
