// Options that mean the same in every command that has them: [NAME=]PATH, --json, --threads and what belongs to it, and
// --precision.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "rnnsearch/base/json.h"
#include "rnnsearch/cli/options.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/kernels/precision.h"
#include "rnnsearch/site/placement.h"

namespace rnnsearch::cli {

struct NamedPath {
  std::string name;
  std::filesystem::path path;
};

/// NAME=PATH, or PATH alone: then its name without folders and extension. A run directory has no extension.
NamedPath named_path(const std::string& text);

inline std::vector<std::filesystem::path> path_without_name(const std::string& text) { return {named_path(text).path}; }
inline constexpr Path kNamedFile{.kind = Path::kInputFile, .in = path_without_name},
    kNamedRun{.kind = Path::kInputRun, .in = path_without_name};

/// Declares --json in the group at hand. `content`: what is written, such as "the report".
void add_json(Options& options, std::filesystem::path& file, const std::string& content);

/// Prints the results as text, and writes what `json` returns to `file`. For "-" the JSON goes to standard output in
/// place of the text; an empty path is none.
void print_results(const std::filesystem::path& file, const std::function<Json()>& json,
                   const std::function<void()>& text);

inline constexpr std::size_t kMostThreads = 4096;  // of a rank, that --threads accepts

/// --threads, --oversubscribe and --stall-timeout.
struct ThreadOptions {
  std::optional<std::size_t> threads;  // of each rank; not given: its share of the CPUs
  bool oversubscribe = false;
  double stall_timeout = comm::kStallTimeout;  // seconds, see comm::Communicator
  bool warn = true;                            // of more threads than cores, or than a quota of CPUs, and of idle CPUs
};
/// Declares them in the group at hand.
void add_threads(Options& options, ThreadOptions& threads);
/// Declares all but --threads, for a command that has its own.
void add_thread_limits(Options& options, ThreadOptions& threads);

/// More threads than CPUs are refused unless this is true: the option, or the switch RNNSEARCH_OVERSUBSCRIBE of the
/// environment (tests on small machines). Throws UsageError.
bool oversubscription_is_meant(const ThreadOptions& options);

/// COLLECTIVE. site::settle_threads with these options; hands this rank's number to set_thread_count, and the stall
/// timeout to comm, and logs what site::threads_beyond_cores, threads_beyond_quota and idle_cpus say. Returns at the
/// root one place a rank, nothing elsewhere. Throws AgreedError.
std::vector<site::RankPlace> settle_threads(const ThreadOptions& options, const comm::Communicator& communicator);

/// COLLECTIVE. comm::root_does, where `act` reads these texts. The other ranks wait for the root as long as it takes if
/// one of them is standard input (-) or a pipe, whose writer may take hours; else --stall-timeout holds. An empty path
/// is no text.
void root_reads(const std::vector<std::filesystem::path>& texts, double stall_timeout,
                const comm::Communicator& communicator, const std::function<void()>& act);

/// What a command does with a model. Only trained models can be used in int8.
enum class ModelUse { kTraining, kTrained };

/// --precision f32|bf16|auto, and int8 for trained models, in the group at hand; `precision` becomes auto.
void add_precision(Options& options, std::string& precision, ModelUse use);

/// COLLECTIVE. Sets kernels::set_precision on all ranks to what the root makes of its own `asked`. A line of the root
/// on standard error warns of a precision for which the processor has no unit, and of SSE2. Throws AgreedError when the
/// ranks would not compute alike.
kernels::Precision set_precision(const std::string& asked, const comm::Communicator& communicator);

/// Throws Error, naming the first rank whose kernels::arithmetic() is not the root's, its host and the root's. One name
/// and one host a rank.
void check_arithmetic_is_one(const std::vector<std::string>& names, const std::vector<std::string>& hosts);

}  // namespace rnnsearch::cli
