// The table of commands, their invocations, and the code that runs each of them: signals, MPI, errors and exit codes.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "rnnsearch/cli/options.h"
#include "rnnsearch/comm/communicator.h"

namespace rnnsearch::cli {

/// One invocation of a command, in the steps that every command takes: read the command line, check it, work.
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

// The commands, one in each file of its name. Each prints its results to standard output.
std::unique_ptr<Invocation> make_align();
std::unique_ptr<Invocation> make_average();
std::unique_ptr<Invocation> make_benchmark();
std::unique_ptr<Invocation> make_evaluate();
std::unique_ptr<Invocation> make_inspect();
std::unique_ptr<Invocation> make_node_check();
std::unique_ptr<Invocation> make_prepare();
std::unique_ptr<Invocation> make_report();
std::unique_ptr<Invocation> make_rescore();
std::unique_ptr<Invocation> make_score();
std::unique_ptr<Invocation> make_train();
std::unique_ptr<Invocation> make_translate();

/// Exit codes besides 0. kWrongUsage: a UsageError, which job scripts do not retry. kFailed: any other error.
inline constexpr int kFailed = 1, kWrongUsage = 2;
/// Exit code of a command that a signal or the end of the job stopped: batch scripts requeue on it. (Shells and
/// sysexits.h have taken the codes around EX_TEMPFAIL.)
inline constexpr int kStoppedEarly = 85;

/// kAny: a comm::Environment exists while the command runs. kAnyLaunched: it exists only if a launcher may have started
/// several processes; otherwise the number of tasks that SLURM granted does not matter. kOne: the same, and several
/// processes are rejected.
enum class Ranks { kOne, kAny, kAnyLaunched };

struct Command {
  const char* name;
  const char* summary;
  const char* group;  // the title above it in --help; commands of one group stand together
  Ranks ranks;
  /// Whether SIGTERM and SIGUSR1 are caught before anything else and end the command normally with exit code 85.
  /// Otherwise they terminate the process.
  bool stoppable;
  std::unique_ptr<Invocation> (*make)();
};
std::span<const Command> commands();

/// Finds the command and runs it. An exception becomes one line on standard error, "rnnsearch COMMAND: sentence" (with
/// the rank when there are several), and exit code 1, or 2 for a UsageError; with several ranks it ends all of them.
/// The root alone prints help, version and errors: what all ranks agreed on, and the first error of a rank that fails
/// alone. Ranks that cannot reach each other each print their own. A parallel command starts after all ranks have
/// checked that they run the same executable. Log lines go to standard error. Results that could not be written to
/// standard output are an error.
int run_program(int argc, const char* const* argv);

}  // namespace rnnsearch::cli
