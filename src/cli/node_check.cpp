#include "rnnsearch/cli/command.h"

#include <cstdlib>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/options/common.h"
#include "cli/progress.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/version.h"
#include "rnnsearch/kernels/instruction_set.h"
#include "rnnsearch/kernels/precision.h"
#include "rnnsearch/site/site_check.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;
using site::Finding;
using site::Level;

std::string setting(const char* name) {
  const char* const text = std::getenv(name);
  return text ? text : "";
}

std::size_t number_set(const char* name) {
  std::uint64_t number = 0;
  return value::read(setting(name), number) ? number : 0;
}

site::NodeFacts own_facts(const comm::Communicator& communicator) {
  return {communicator.hosts()[static_cast<std::size_t>(communicator.rank())], std::string(kernels::instruction_set()),
          std::string(kernels::bfloat16_unit())};
}

std::string line_of(const Finding& finding) {
  return fmt::format("{:<9}{:<16}{}{}\n", site::name_of(finding.level), finding.topic, finding.text,
                     finding.next_step.empty() ? "" : "; " + finding.next_step);
}

struct Settings {
  fs::path folder;
  ThreadOptions threads;
  fs::path json;
};

void declare(Options& options, Settings& s) {
  options.group("Checks");
  options.add(
      "folder", s.folder, Placeholder{"DIR"}, Path{.kind = Path::kOutputFolder}, kRequired,
      "folder where runs will be written, on a file system that all hosts share; the command removes its test files");
  add_json(options, s.json, "the findings");
  options.group("Machine");
  add_threads(options, s.threads);
}

void check(const Options&, Settings&) {}

int work(const Options&, Settings& s, const comm::Communicator& communicator) {
  Progress progress(!communicator.is_root());
  std::vector<Finding> findings;
  const auto add = [&](std::vector<Finding> more) {
    findings.insert(findings.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  const bool meant = oversubscription_is_meant(s.threads);
  s.threads.oversubscribe = true;  // it is a finding here, as are slow bindings
  s.threads.warn = false;
  const auto places = settle_threads(s.threads, communicator);
  const auto facts = site::gather_facts(communicator, own_facts(communicator));
  const auto ahead = site::clocks_ahead(communicator);
  if (communicator.is_root()) {
    const bool step = !setting("SLURM_STEP_ID").empty() && number_set("SLURM_STEP_NUM_TASKS") > 1;
    const std::string library =
        comm::library() + (communicator.size() > 1 ? "" : " (which a single rank does not need)");
    findings.push_back(site::ranks_finding(facts, number_set(step ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS"), library));
    for (const auto& line : describe(places)) {
      if (line.find("warning") == line.npos)
        findings.push_back({Level::kOk, "threads", line.substr(line.find(' ') + 1), ""});
    }
    if (const auto sentence = oversubscription(places); !sentence.empty())
      findings.push_back({meant ? Level::kWarning : Level::kFailed, "threads", sentence, site::remedy()});
    for (const auto& sentence : site::slow_bindings(places)) {
      findings.push_back(
          {Level::kWarning, "binding", sentence,
           fmt::format("one thread on each core and one rank in each NUMA domain are usually fastest (HINT, "
                       "RANKS_PER_NODE and CPUS_PER_RANK of cluster/site.sh; {})",
                       comm::library_is_open_mpi() ? "mpirun --map-by numa:PE=N" : "mpiexec -bind-to numa")});
    }
    if (const auto sentence = idle_cpus(places); !sentence.empty()) {
      findings.push_back(
          {Level::kWarning, "threads", sentence,
           fmt::format("start the ranks with {}; with SLURM, state --cpus-per-task", comm::launch_without_binding())});
    }
    add(site::processor_findings(facts));
    if (site::host_count(facts) > 1) findings.push_back(site::clock_finding(facts, ahead));
  }

  progress.show("[node-check] files");
  add(site::check_folder(communicator, fs::absolute(s.folder)));
  progress.show("[node-check] all-reduces");
  const auto sums = site::time_sums(communicator);
  if (!communicator.is_root()) return 0;
  add(site::sum_findings(sums, facts.size(), site::host_count(facts)));

  const auto count = [&](Level level) {
    return static_cast<std::size_t>(
        std::ranges::count_if(findings, [&](const Finding& f) { return f.level == level; }));
  };
  const auto json = [&] {
    Json list = Json::array(), reductions = Json::array(), ranks = Json::array();
    for (const Finding& f : findings) {
      list.push_back(Json::object(
          {{"level", site::name_of(f.level)}, {"topic", f.topic}, {"text", f.text}, {"next_step", f.next_step}}));
    }
    for (const site::Sum& sum : sums) {
      reductions.push_back(Json::object(
          {{"bytes", sum.bytes}, {"seconds", sum.seconds}, {"gigabytes_per_second", sum.gigabytes_per_second()}}));
    }
    for (std::size_t rank = 0; rank < facts.size(); ++rank) {
      ranks.push_back(Json::object({{"host", facts[rank].host},
                                    {"threads", places[rank].threads},
                                    {"cpus", places[rank].cpus},
                                    {"cores", places[rank].cores},
                                    {"numa_domains", places[rank].numa_domains},
                                    {"instruction_set", facts[rank].instruction_set},
                                    {"bfloat16_unit", facts[rank].bfloat16_unit}}));
    }
    return Json::object({{"version", kVersion},
                         {"failed", count(Level::kFailed)},
                         {"warnings", count(Level::kWarning)},
                         {"findings", std::move(list)},
                         {"allreduce", std::move(reductions)},
                         {"ranks", std::move(ranks)}});
  };
  print_results(s.json, json, [&] {
    for (const Finding& finding : findings) std::cout << line_of(finding);
  });
  return count(Level::kFailed) > 0 ? 1 : 0;
}

}  // namespace

std::unique_ptr<Invocation> make_node_check() {
  return invocation_of<Settings>(
      {"node-check",
       "Checks whether this site can train. Run it first, started as a training would be started (mpirun, srun). It "
       "checks whether the ranks find each other, their CPUs, cores, NUMA domains, threads and clocks, the folder of "
       "the runs, the bandwidth of all-reduces, and the vector units. Each finding is one line that begins with ok, "
       "warning or FAILED and says what to do. Exit code 1 means that training would fail.",
       "--folder runs"},
      declare, check, work);
}

}  // namespace rnnsearch::cli
