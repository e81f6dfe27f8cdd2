#include "cli/options/common.h"

#include <iostream>

#include "rnnsearch/base/file.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/kernels/instruction_set.h"

namespace rnnsearch::cli {
namespace {

/// Lines about what this processor computes slowly, or otherwise than others, in this precision; empty if nothing.
std::string emulation(const std::string& where) {
  std::string lines;
  if (kernels::instruction_set() == "sse2") {
    lines += fmt::format(
        "[rnnsearch] {}this processor, or RNNSEARCH_SIMD, allows SSE2 alone, which has no fused multiply-add: results "
        "have other last digits than on any other processor\n",
        where);
  }
  if (kernels::precision() == kernels::Precision::kBFloat16 && kernels::bfloat16_unit().empty()) {
    lines += fmt::format(
        "[rnnsearch] {}precision bf16: this processor has no bfloat16 unit that may be used, so its products are "
        "emulated, slower than f32, with the same results as of AVX512-BF16; choose --precision f32 unless you compare "
        "results\n",
        where);
  }
  if (kernels::precision() == kernels::Precision::kInt8 && kernels::int8_unit().empty()) {
    lines += fmt::format(
        "[rnnsearch] {}precision int8: this processor has no AVX512-VNNI that may be used, so its products are "
        "emulated, far slower than f32; choose --precision f32 unless you compare results\n",
        where);
  }
  return lines;
}

}  // namespace

namespace fs = std::filesystem;

NamedPath named_path(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::error_code ignored;  // a name may be longer than a file's
  if (equals != std::string::npos && equals > 0 && text.find('/') >= equals && !fs::exists(text, ignored))
    return {text.substr(0, equals), text.substr(equals + 1)};
  const fs::path path = text.substr(0, std::max<std::size_t>(1, text.find_last_not_of('/') + 1));
  return {(fs::is_directory(path, ignored) ? path.filename() : path.stem()).string(), path};
}

void add_json(Options& options, std::filesystem::path& file, const std::string& content) {
  options.add("json", file, kOutputText, kNotRecorded,
              "write " + content + " as JSON to this file; -: to standard output, in place of text");
}

void print_results(const std::filesystem::path& file, const std::function<Json()>& json,
                   const std::function<void()>& text) {
  if (file == "-") {
    std::cout << json_text(json(), 2) << "\n";
    return;
  }
  if (!file.empty()) write_file_atomically(file, json_text(json(), 2) + "\n");
  text();
}

void add_threads(Options& options, ThreadOptions& threads) {
  options.add("threads", threads.threads, kNotRecorded, Later::kFree, within(1, kMostThreads),
              "number of threads of each rank [the number of CPUs that the rank may use, divided by the number of "
              "ranks that share them]");
  add_thread_limits(options, threads);
}

void add_thread_limits(Options& options, ThreadOptions& threads) {
  options.add("oversubscribe", threads.oversubscribe, kNotRecorded, Later::kFree,
              "allow more threads than CPUs, which is otherwise an error");
  options.add("stall-timeout", threads.stall_timeout, kNotRecorded, Later::kFree,
              Bounds{.from = 1,
                     .to = 1e6,
                     .or_zero = true,
                     .sentence = "of at least 1, in which a rank can answer, up to 1000000, or 0 for no limit"},
              "seconds without progress after which a message names the late ranks; if one of them does not respond at "
              "all, the command then ends with exit code 1. 0: no limit");
}

bool oversubscription_is_meant(const ThreadOptions& options) {
  return environment_switch("RNNSEARCH_OVERSUBSCRIBE") || options.oversubscribe;
}

std::vector<site::RankPlace> settle_threads(const ThreadOptions& options, const comm::Communicator& communicator) {
  communicator.set_stall_timeout(options.stall_timeout);
  auto placement = site::settle_threads(communicator, options.threads.value_or(0), oversubscription_is_meant(options));
  set_thread_count(placement.threads);
  if (options.warn) {
    // By default a core has as many threads as it has hardware threads.
    const std::string cores = options.threads ? site::threads_beyond_cores(placement.places) : "";
    const std::string idle = options.threads ? "" : site::idle_cpus(placement.places);
    const std::string quota = site::threads_beyond_quota(placement.places);
    if (!cores.empty()) log_line(fmt::format("[comm] warning: {}; {}", cores, site::remedy()));
    if (!idle.empty())
      log_line(
          fmt::format("[comm] warning: {}; to use all, start the ranks with {}, or give --threads if this is intended",
                      idle, comm::launch_without_binding()));
    if (!quota.empty())
      log_line(fmt::format("[comm] warning: {}; give fewer --threads, or ask the site for a larger quota", quota));
  }
  return std::move(placement.places);
}

void root_reads(const std::vector<std::filesystem::path>& texts, double stall_timeout,
                const comm::Communicator& communicator, const std::function<void()>& act) {
  std::uint64_t waits = std::ranges::any_of(texts, [](const fs::path& text) {
    std::error_code ignored;
    const auto status = fs::status(text, ignored);
    return text == "-" || (fs::exists(status) && !fs::is_regular_file(status));
  });
  communicator.broadcast(std::span(&waits, 1));
  struct Patience {
    const comm::Communicator& communicator;
    double before;
    ~Patience() { communicator.set_stall_timeout(before); }
  } const patience{communicator, stall_timeout};
  if (waits != 0) communicator.set_stall_timeout(0);
  comm::root_does(communicator, act);
}

void add_precision(Options& options, std::string& precision, ModelUse use) {
  precision = "auto";
  std::string help =
      "precision of the matrix products. f32: float32; bf16: factors rounded to bfloat16, sums in float32; auto: bf16 "
      "where the processors of all ranks multiply it faster, in the same way, otherwise f32";
  std::vector<std::string> choices = {"f32", "bf16", "auto"};
  if (use == ModelUse::kTraining) {
    help += "; a resumed run keeps the precision of its checkpoint";
  } else {
    help += "; int8: factors rounded to 8 bits with a scale for each 128, for processors with AVX512-VNNI";
    choices.insert(choices.end() - 1, "int8");
  }
  options.add("precision", precision, Later::kFree, Choices{choices}, help);
}

kernels::Precision set_precision(const std::string& asked, const comm::Communicator& communicator) {
  const auto units = communicator.gather(kernels::bfloat16_pays() ? std::string(kernels::bfloat16_unit()) : "");
  const std::string agreed = comm::at_root(communicator, [&]() -> std::string {
    // With auto no rank emulates bf16, and none computes it otherwise than the others.
    const bool one_kind = std::ranges::count(units, units.front()) == std::ssize(units);
    return asked == "auto" && !one_kind ? "f32" : kernels::name_of(kernels::precision_of(asked));
  });
  kernels::set_precision(kernels::precision_of(agreed));
  const auto hosts = communicator.hosts(), names = communicator.gather(kernels::arithmetic());
  const auto warnings = communicator.gather(
      emulation(communicator.is_root() ? "" : fmt::format("rank {} on {}: ", communicator.rank(), host_name())));
  comm::root_does(communicator, [&] {
    check_arithmetic_is_one(names, hosts);
    const auto first = std::ranges::find_if(warnings, [](const auto& lines) { return !lines.empty(); });
    if (first != warnings.end()) std::cerr << *first;
  });
  return kernels::precision();
}

void check_arithmetic_is_one(const std::vector<std::string>& names, const std::vector<std::string>& hosts) {
  const auto other = std::ranges::find_if(names, [&](const auto& name) { return name != names.front(); });
  if (other == names.end()) return;
  const auto rank = static_cast<std::size_t>(other - names.begin());
  const bool has_sse2 = (names.front() + *other).find("sse2") != std::string::npos;
  throw Error(
      "{} (rank 0) computes in {} and {} (rank {}) in {}, so they would round sums differently; {}set "
      "RNNSEARCH_SIMD={} on all hosts",
      hosts.front(), names.front(), hosts[rank], rank, *other, has_sse2 ? "" : "give --precision f32, or ",
      has_sse2 ? "sse2" : "avx512");
}

}  // namespace rnnsearch::cli
