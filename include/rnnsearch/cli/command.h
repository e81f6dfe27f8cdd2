// The table of commands, and the code that runs each of them: signals, MPI, errors and exit codes.
#pragma once

#include <memory>
#include <span>

#include "rnnsearch/cli/invocation.h"

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
