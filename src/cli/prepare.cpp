#include "cli/commands.h"

#include <algorithm>
#include <iostream>
#include <memory>

#include "cli/prepare_options.h"
#include "cli/progress.h"
#include "cli/rank_team.h"
#include "cli/ranks.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/number_text.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/stopwatch.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/merge.h"
#include "rnnsearch/corpus/prepare.h"
#include "rnnsearch/corpus/prepare_report.h"
#include "rnnsearch/corpus/team.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

void show(const auto& report, const fs::path& output, bool json) {
  if (report.unchanged)
    std::cerr << "[prepare] " << output.string() << " holds all this already, so there was nothing to do\n";
  if (json) {
    std::cout << corpus::json_of(report, output).dump(2) << "\n";
  } else {
    corpus::print(report, output, std::cout);
  }
}

int work(const Options& options, PrepareSettings& settings, const comm::Communicator& world) {
  settings.corpus.only_check = options.only_checks();
  if (!settings.merged.empty()) {
    if (options.only_checks()) return 0;
    if (world.size() > 1) throw UsageError("--merge is for one process; start it without a launcher, or with -n 1");
    const corpus::MergeReport report = corpus::merge({{settings.merged.begin(), settings.merged.end()},
                                                      settings.corpus.output,
                                                      settings.corpus.shard_pairs,
                                                      settings.corpus.overwrite});
    for (const std::string& warning : report.warnings) std::cerr << "[prepare] warning: " << warning << "\n";
    show(report, settings.corpus.output, settings.json);
    return 0;
  }

  settle_threads(settings.threads, world);
  std::unique_ptr<corpus::Team> team = std::make_unique<corpus::Alone>();
  if (world.size() > 1) {
    team = std::make_unique<RankTeam>(world);
    // Rank 0 learns alone, for as long as that takes, and the others wait for it.
    if (settings.corpus.subwords.learned != "none") world.set_stall_timeout(0);
  }
  std::optional<Progress> progress(std::in_place, team->rank() != 0);
  Stopwatch watch;
  int pass = -2;  // none yet
  const auto report = corpus::prepare(settings.corpus, *team, [&](const corpus::PrepareProgress& p) {
    if (!p.event.empty()) {
      progress->say("[prepare] " + p.event);
      return;
    }
    if (p.pass != pass) watch.lap();
    pass = p.pass;
    const double share = static_cast<double>(p.bytes) / static_cast<double>(std::max<std::uint64_t>(p.total_bytes, 1));
    const double left = share > 0 ? watch.seconds() * (1 - share) / share : 0;
    progress->show(text_of("[prepare] ",
                           pass == -1  ? "sampling for subwords: "
                           : pass == 0 ? "seeking repeated pairs: "
                           : pass == 1 ? "counting words: "
                                       : "writing: ",
                           static_cast<int>(100 * share), "%, ", grouped(p.pairs), " pairs, ", duration(left),
                           " of this left"));
  });
  if (report.learned_before || report.counted_before)
    progress->say(text_of("[prepare] resumes a killed run, which had ",
                          report.learned_before ? "learned the subwords" : "",
                          report.learned_before && report.counted_before ? " and " : "",
                          report.counted_before ? "counted the words" : ""));
  progress.reset();
  if (team->rank() != 0 || options.only_checks()) return 0;
  show(report, settings.corpus.output, settings.json);
  return 0;
}

}  // namespace

std::unique_ptr<Invocation> make_prepare() {
  return std::make_unique<InvocationOf<PrepareSettings>>(
      "prepare",
      "Makes one HDF5 corpus from parallel text: splits it into words or subwords, makes the "
      "vocabularies, drops empty and long pairs, and keeps the raw references of dev and test sets. "
      "Files are UTF-8 with one sentence per line, plain or compressed (gzip, zstd, xz), or WMT test "
      "sets (FILE.sgm, FILE.sgml, FILE.xml; FILE.xml@WHO selects a translator). Under mpirun the ranks "
      "share the work and write the same bytes; all of them must see the files. A command that was "
      "killed after it learned subwords or counted the words of a large text resumes from there when it "
      "is repeated.",
      Steps<PrepareSettings>{declare, check, work, true});
}

}  // namespace rnnsearch::cli
