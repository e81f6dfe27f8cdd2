#include "cli/commands.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/options/json_output.h"
#include "cli/options/prepare_options.h"
#include "cli/options/ranks.h"
#include "cli/progress.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/log.h"
#include "rnnsearch/base/number_text.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/stopwatch.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/prepare.h"
#include "rnnsearch/corpus/prepare_report.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

void show(const corpus::PrepareReport& report, const fs::path& output, const fs::path& json) {
  if (report.unchanged)
    std::cerr << "[prepare] " << output.string() << " holds all this already, so there was nothing to do\n";
  print_results(
      json, [&] { return corpus::json_of(report, output); }, [&] { corpus::print(report, output, std::cout); });
}

int work(const Options& options, PrepareSettings& settings, const comm::Communicator& communicator) {
  settings.corpus.only_check = options.only_checks();
  settle_threads(settings.threads, communicator);
  if (communicator.size() > 1) {
    communicator.set_stall_timeout(0);  // rank 0 may take as long as it needs
    if (communicator.is_root())
      log_line("[prepare] runs in one process: rank 0 prepares the corpus, and the other ranks wait");
  }
  comm::root_does(communicator, [&] {
    std::optional<Progress> progress(std::in_place, false);
    Stopwatch watch;
    int pass = -2;  // none yet
    const auto report = corpus::prepare(settings.corpus, [&](const corpus::PrepareProgress& p) {
      if (!p.event.empty()) {
        progress->say("[prepare] " + p.event);
        return;
      }
      if (p.pass != pass) watch.lap();
      pass = p.pass;
      const double share =
          static_cast<double>(p.bytes) / static_cast<double>(std::max<std::uint64_t>(p.total_bytes, 1));
      const double left = share > 0 ? watch.seconds() * (1 - share) / share : 0;
      progress->show(fmt::format("[prepare] {}{}%, {} pairs, {} of this left",
                                 pass == -1  ? "sampling for subwords: "
                                 : pass == 0 ? "seeking repeated pairs: "
                                 : pass == 1 ? "counting words: "
                                             : "writing: ",
                                 static_cast<int>(100 * share), grouped(p.pairs), duration(left)));
    });
    progress.reset();
    if (!options.only_checks()) show(report, settings.corpus.output, settings.json);
  });
  return 0;
}

}  // namespace

std::unique_ptr<Invocation> make_prepare() {
  return std::make_unique<InvocationOf<PrepareSettings>>(
      "prepare",
      "Makes one HDF5 corpus from parallel text: splits it into words or subwords, makes the "
      "vocabularies, drops empty and long pairs, and keeps the raw references of dev and test sets. "
      "Files are UTF-8 with one sentence per line, plain or compressed (gzip, zstd, xz). It runs in one process, "
      "on all its threads: under mpirun rank 0 prepares, and the other ranks wait.",
      "--train-source train.en --train-target train.fr --dev-source dev.en --dev-target dev.fr --source-language en "
      "--target-language fr --output corpus.h5",
      Steps<PrepareSettings>{declare, check, work, true});
}

}  // namespace rnnsearch::cli
