#include "rnnsearch/cli/command.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>

#include "cli/options/common.h"
#include "cli/options/help.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/base/version.h"
#include "rnnsearch/comm/launch.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/kernels/instruction_set.h"
#include "rnnsearch/kernels/precision.h"
#include "rnnsearch/storage/hdf5.h"
#include "rnnsearch/storage/sealed_file.h"

namespace rnnsearch::cli {
namespace {

constexpr Command kCommands[] = {
    {"prepare", "make one HDF5 corpus from parallel text: vocabularies, training pairs, dev and test sets",
     "Needed in every experiment", Ranks::kAnyLaunched, false, make_prepare},
    {"train", "train a model on a corpus; writes checkpoints, a log and a record of the run",
     "Needed in every experiment", Ranks::kAny, true, make_train},
    {"translate", "translate text by greedy or beam search", "Needed in every experiment", Ranks::kAny, true,
     make_translate},
    {"evaluate", "compute BLEU, chrF and TER, overall and by sentence length, with tests of significance",
     "Needed in every experiment", Ranks::kAny, true, make_evaluate},
    {"report", "make one HTML page of runs, scores and alignments", "Often needed", Ranks::kOne, false, make_report},
    {"align", "show attention weights: matrices, links, heat maps, alignment error rate", "Often needed", Ranks::kAny,
     true, make_align},
    {"inspect", "show what a corpus or a checkpoint holds", "Often needed", Ranks::kOne, false, make_inspect},
    {"score", "print log-probabilities of given translations", "Often needed", Ranks::kAny, true, make_score},
    {"average", "average the parameters of checkpoints of one training", "Often needed", Ranks::kOne, false,
     make_average},
    {"rescore", "score n-best lists with further models and rank them by weights", "Sometimes needed", Ranks::kAny,
     true, make_rescore},
    {"benchmark", "time updates, or translation, of any configuration on this machine", "Sometimes needed", Ranks::kAny,
     false, make_benchmark},
    {"node-check", "check whether this site can train: ranks, threads, files, network", "Sometimes needed", Ranks::kAny,
     false, make_node_check},
};

const std::string kProgram = "rnnsearch";  // how lines begin that say why it ends

std::string usage() {
  std::string text = "rnnsearch COMMAND [--OPTION VALUE]...\n\n";
  text += wrapped(
      "Trains neural machine translation with attention (Bahdanau, Cho and Bengio 2015) on clusters of CPUs.", 0);
  std::string_view group;
  for (const Command& command : kCommands) {
    if (command.group != group) text += fmt::format("\n\n{}:", command.group);
    group = command.group;
    text += fmt::format("\n  {:<12}{}", command.name, wrapped(command.summary, 14));
  }
  for (const char* paragraph :
       {"rnnsearch COMMAND -h shows how a command is used; rnnsearch help COMMAND, or rnnsearch COMMAND --help, "
        "explains all of its options; rnnsearch --version prints the version.",
        "Exit codes: 0 success; 2 wrong command line (repeating it unchanged fails again); 85 a signal or the end of "
        "the job stopped the command, and the same command resumes the work; 1 any other error."}) {
    text += "\n\n" + wrapped(paragraph, 0);
  }
  return text + "\n";
}

std::string version() {
  const auto unit = kernels::bfloat16_unit();
  return fmt::format("rnnsearch {}\n{}\n{}\ninstruction set {}{}\n", kVersion, comm::library(), storage::library(),
                     kernels::instruction_set(), unit.empty() ? "" : fmt::format(", bfloat16 by {}", unit));
}

/// What is closed would be the number of the next file that is opened, and that file would get what is printed. Reading
/// and writing still fail, as they would of what is closed.
void occupy_closed_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) < 0) ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void print_error(const std::string& who, const std::string& what) {
  std::cout.flush();
  std::cerr << printable(kProgram + who + ": " + what) + "\n" << std::flush;
}

/// COLLECTIVE. AgreedError unless all ranks run the same executable, bit for bit.
void check_same_program(const comm::Communicator& communicator) {
  if (communicator.size() == 1) return;
  // A program that is built anew while it runs is no longer where it was; the kernel still shows what runs.
  comm::agree(communicator, {"rnnsearch", "install one build on all hosts, or on a file system that they share", [] {
                               const auto digest = storage::Digest().add(read_file("/proc/self/exe")).hex();
                               return fmt::format("version {}, digest {}", kVersion, digest);
                             }});
}

/// Throws UsageError for a variable of the environment that no run could use.
void check_environment() {
  comm::start_timeout(::getenv);
  kernels::instruction_set();
  oversubscription_is_meant({});
}

/// A command that is left to do; none after help.
using Begin = std::function<std::unique_ptr<Invocation>()>;

/// COLLECTIVE. Throws AgreedError if `begin` throws on some rank, so that all ranks leave in order with the exit code
/// of that error (after MPI_Abort, srun returns a code of its own), and, naming the first option that differs, unless
/// all ranks have the same values of all recorded options: a configuration file may be another one on another host.
std::unique_ptr<Invocation> begun_on_all_ranks(const comm::Communicator& communicator, const Begin& begin) {
  std::unique_ptr<Invocation> invocation;
  comm::agree_on_lines(communicator, "options", "give all ranks the same command line and the same --config", [&] {
    std::vector<std::string> lines;  // a repeated option has a line for each of its values
    invocation = begin();
    if (!invocation) return lines;
    for (const auto& [name, value] : invocation->options.values()) lines.push_back(fmt::format("{} = {}", name, value));
    return lines;
  });
  return invocation;
}

int run_command(const Command& command, bool asks_for_help, const Begin& begin) {
  const std::string name = *command.name ? fmt::format(" {}", command.name) : "";
  std::string who = name, sentence;
  const comm::Communicator alone;
  std::optional<comm::Environment> environment;
  const auto communicator = [&]() -> const comm::Communicator& {
    return environment ? environment->communicator() : alone;
  };
  const comm::Launch launch = comm::this_launch();
  bool several = false, root = launch.rank == 0;  // until MPI is asked
  int failure = kFailed;
  if (asks_for_help && !root) return 0;
  if (command.stoppable && !asks_for_help) catch_stop_signals();
  const auto leave_together = [&](int exit_code, const char* agreed) {
    // Without MPI no rank knows whether another one speaks for all.
    if (root || !environment) print_error(root ? name : fmt::format("{} [rank {}]", name, launch.rank), agreed);
    try {
      if (environment) environment->finish(exit_code);
    } catch (const std::exception& error) {
      print_error(who, sentence_of(error));
      comm::Environment::abort(exit_code);
    }
    return exit_code;
  };
  try {
    if (!asks_for_help && (command.ranks == Ranks::kAny || launch.may_be_several())) {
      set_log_sink([](std::string_view line) { std::cerr << printable(line) + "\n"; });  // if it cannot even start
      environment.emplace();
      several = communicator().size() > 1;
      root = communicator().is_root();
      if (several) who += fmt::format(" [rank {}]", communicator().rank());
    }
    set_log_sink([prefix = root || !several ? "" : who.substr(who.find('[')) + " "](std::string_view line) {
      std::cerr << (line.starts_with(kProgram) ? "" : prefix) + printable(line) + "\n" << std::flush;
    });
    check_same_program(communicator());
    const auto invocation = begun_on_all_ranks(communicator(), [&] {
      if (several && command.ranks == Ranks::kOne) {  // they would all do the same to the same files
        throw UsageError("was started in {} processes, and is for one; start it without a launcher, or with -n 1",
                         communicator().size());
      }
      if (environment) check_environment();
      return begin();
    });
    // A later refusal would lose the results of the work.
    if (invocation && !invocation->options.only_checks())
      comm::root_does(communicator(), [&] { invocation->options.check_outputs(); });
    const int exit_code = invocation ? invocation->work(communicator()) : 0;
    std::cout.flush();
    if (!std::cout)
      throw Error("cannot write the results to standard output: is the disk full, or has its reader exited?");
    if (environment) environment->finish(exit_code);
    return exit_code;
  } catch (const comm::AgreedError& error) {
    return leave_together(error.of_usage() ? kWrongUsage : kFailed, error.what());
  } catch (const comm::Stopped& stopped) {
    return leave_together(kStoppedEarly, stopped.what());
  } catch (const Interrupted&) {  // where the ranks do not wait for each other
    failure = kStoppedEarly;
    sentence = comm::Stopped().what();
  } catch (const std::exception& error) {
    if (dynamic_cast<const UsageError*>(&error)) failure = kWrongUsage;
    sentence = sentence_of(error);
  }
  if (several) {
    std::cout.flush();
    communicator().end_all_ranks(failure, kProgram + who + ": " + sentence);
  }
  print_error(who, sentence);
  if (environment) environment->finish(failure);
  return failure;
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

int run_program(int argc, const char* const* argv) {
  occupy_closed_descriptors();
  ::signal(SIGXFSZ, SIG_IGN);  // a file that reaches the limit of its size is then an error, and is cleared away
  Arguments arguments(argv + std::min(argc, 1), argv + argc);
  if (arguments.size() == 2 && arguments.front() == "help") arguments = {arguments.back(), "--help"};
  const std::string name = arguments.empty() ? "" : arguments.front();
  constexpr Command kNone{"", "", "", Ranks::kAnyLaunched, false, nullptr};
  if (name == "--help" || name == "-h" || name == "help" || name == "--version") {
    return run_command(kNone, true, [&]() -> std::unique_ptr<Invocation> {
      std::cout << (name == "--version" ? version() : usage());
      return nullptr;
    });
  }
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    names.push_back(command.name);
    if (command.name != name) continue;
    const Arguments of_command(arguments.begin() + 1, arguments.end());
    const bool asks_for_help =
        std::ranges::any_of(of_command, [](const std::string& word) { return word == "--help" || word == "-h"; });
    return run_command(command, asks_for_help, [&] {
      auto invocation = command.make();
      return invocation->begin(of_command) ? std::move(invocation) : nullptr;
    });
  }
  if (name.empty() && comm::this_launch().rank == 0) std::cerr << usage() << "\n";
  return run_command(kNone, false, [&]() -> std::unique_ptr<Invocation> {
    if (name.empty()) throw UsageError("no command was given");
    throw UsageError("unknown command '" + name + "'" + suggestion(name, names, "rnnsearch --help names them all"));
  });
}

}  // namespace rnnsearch::cli
