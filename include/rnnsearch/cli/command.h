// The program: a table of commands, and what happens around each of them.
#pragma once

#include <span>
#include <string>

#include "rnnsearch/cli/options.h"

namespace rnnsearch::cli {

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
  Ranks ranks;
  /// SIGTERM and SIGUSR1, caught first of all, end it in order with exit code 85; else they end it by default.
  bool stoppable;
  /// Returns the exit code: 0 only on success. What the user or the machine caused is thrown as Error.
  int (*run)(const Arguments& arguments);
};
std::span<const Command> commands();

/// Finds the command and runs it. An exception becomes one line on standard error, "rnnsearch COMMAND: sentence" (with
/// the rank when there are several), and exit code 1, or 2 for a UsageError; with several ranks it ends all of them.
/// What all ranks agreed on is said once, by the root, as are help, version and what is wrong before MPI is
/// initialised. A parallel command begins once all ranks run the same executable. What rooms log goes to standard
/// error. Results that could not be written to standard output are an error.
int run_program(int argc, const char* const* argv);

}  // namespace rnnsearch::cli
