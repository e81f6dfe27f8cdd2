#include "cli/options/ranks.h"

#include <algorithm>
#include <span>
#include <string>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/log.h"
#include "rnnsearch/base/option.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/comm/meet.h"

namespace rnnsearch::cli {

void add_threads(Options& options, ThreadOptions& threads) {
  options.add("threads", threads.threads, kNotRecorded, Later::kFree, within(1, kMostThreads),
              "number of threads of each rank [the number of CPUs that the rank may use, divided by the number of "
              "ranks that share them]");
  add_thread_limits(options, threads);
}

void add_thread_limits(Options& options, ThreadOptions& threads) {
  options.add("oversubscribe", threads.oversubscribe, kNotRecorded, Later::kFree,
              "allow more threads than CPUs, which is otherwise an error");
  options.add("stall-timeout", threads.stall_timeout, kNotRecorded, Later::kFree, within(0, 1e6),
              "seconds without progress after which a message names the late ranks; if one of them does not respond at "
              "all, the command then ends with exit code 1. 0: no limit");
}

bool oversubscription_is_meant(const ThreadOptions& options) {
  return environment_switch("RNNSEARCH_OVERSUBSCRIBE") || options.oversubscribe;
}

std::vector<site::RankPlace> settle_threads(const ThreadOptions& options, const comm::Communicator& communicator) {
  if (options.stall_timeout > 0 && options.stall_timeout < 1) {
    throw comm::AgreedError(
        fmt::format("stall-timeout is {:g}, in which no rank can answer; give at least 1 second, or 0 for never",
                    options.stall_timeout),
        true);
  }
  communicator.set_stall_timeout(options.stall_timeout);
  auto placement = site::settle_threads(communicator, options.threads.value_or(0), oversubscription_is_meant(options));
  set_thread_count(placement.threads);
  if (options.warn) {
    // By default a core has as many threads as it has hardware threads.
    const std::string cores = options.threads ? site::threads_beyond_cores(placement.places) : "";
    const std::string quota = site::threads_beyond_quota(placement.places);
    if (!cores.empty()) log_line(fmt::format("[comm] warning: {}; {}", cores, site::remedy()));
    if (!quota.empty())
      log_line(fmt::format("[comm] warning: {}; give fewer --threads, or ask the site for a larger quota", quota));
  }
  return std::move(placement.places);
}

PatienceForPipes::PatienceForPipes(const std::vector<std::filesystem::path>& texts, double stall_timeout,
                                   const comm::Communicator& communicator)
    : stall_timeout_(stall_timeout), communicator_(communicator) {
  std::uint64_t waits = std::any_of(texts.begin(), texts.end(), [](const std::filesystem::path& text) {
    std::error_code ignored;
    const auto status = std::filesystem::status(text, ignored);
    return text.empty() || (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status));
  });
  communicator.broadcast(std::span(&waits, 1));
  if (waits != 0) communicator.set_stall_timeout(0);
}

}  // namespace rnnsearch::cli
