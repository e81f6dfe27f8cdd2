#include "rnnsearch/cli/command.h"

#include <iostream>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/train/checkpoint.h"
#include "rnnsearch/train/run_directory.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

struct Settings {
  std::vector<std::string> checkpoints;
  std::optional<std::string> run;
  std::optional<std::uint64_t> last;
  fs::path output;
  bool overwrite = false;
};

std::vector<fs::path> newest_of(const fs::path& run, std::uint64_t last) {
  auto paths = train::checkpoints_of(run);
  if (paths.size() < last)
    throw Error("--last is {0} but {1} holds {2}; ask for fewer, or train with --keep-checkpoints {0}", last, run,
                counted(paths.size(), "checkpoint"));
  paths.resize(last);
  return paths;
}

void declare(Options& options, Settings& s) {
  options.group("Files");
  options.add("checkpoint", s.checkpoints, kBasic, kInputFile,
              "checkpoint to average; repeat the option for each checkpoint");
  options.add("run", s.run, kBasic, Placeholder{"RUN"}, kInputRun,
              "run directory whose newest checkpoints are averaged, instead of --checkpoint");
  options.add("last", s.last, kBasic, within(2, 1e6),
              "number of newest checkpoints of --run; at most its --keep-checkpoints");
  options.add("output", s.output, kOutputFile, kRequired, "checkpoint file to write");
  options.add("overwrite", s.overwrite, "replace an existing output file (atomically, after the mean is complete)");
}

void check(const Options&, Settings& s) {
  if (s.run.has_value() == !s.checkpoints.empty())
    throw UsageError("give either --checkpoint, once for each, or --run and --last");
  if (s.run.has_value() != s.last.has_value()) throw UsageError("--run and --last belong together; give both");
}

int work(const Options&, Settings& s, const comm::Communicator&) {
  const std::vector<fs::path> given(s.checkpoints.begin(), s.checkpoints.end());
  const auto averaged = train::read_newest(
      [&] { return s.run ? newest_of(*s.run, *s.last) : given; },
      [&](const auto& paths) { return train::average_checkpoints(paths, s.output, s.overwrite, s.run.has_value()); });
  std::cout << s.output.string() << ": the mean of " << averaged.checkpoints.size() << " checkpoints, "
            << averaged.parameters << " parameters:";
  for (const std::string& name : averaged.checkpoints) std::cout << " " << name;
  std::cout << "\n";
  return 0;
}

}  // namespace

std::unique_ptr<Invocation> make_average() {
  return invocation_of<Settings>(
      {"average",
       "Writes the mean of the parameters of several checkpoints of one training, which often translates better than "
       "each of them. Every command accepts the result, train as --initial-model: a training cannot resume from it, "
       "because optimizer states are not averaged. Give either the checkpoints, or a run and the number of its newest "
       "checkpoints to use.",
       "--run runs/small --last 5 --output mean.h5"},
      declare, check, work);
}

}  // namespace rnnsearch::cli
