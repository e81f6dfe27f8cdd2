// Reads a run directory for the report: the configuration of the training and its log. The training may still be
// running.
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/training_log.h"

namespace rnnsearch::report {

struct LoggedUpdate : UpdateFigures {
  std::uint64_t update = 0;
  std::uint64_t updates = 0;   // number of updates since the previous line
  double elapsed_seconds = 0;  // total time of the updates so far, without updates that were repeated after a restart
  double epochs() const { return static_cast<double>(epoch) + epoch_share; }
};

struct LoggedValidation {
  std::uint64_t update = 0;
  double elapsed_seconds = 0;
  double loss_per_word = 0;
  double bleu = 0;  // NaN if it was not computed
  bool best = false;
  /// The share of the time of its attempt that validations had taken; NaN if the log does not have it.
  double share = std::numeric_limits<double>::quiet_NaN();
};

struct Run {
  std::string name;
  std::filesystem::path path;
  std::vector<std::pair<std::string, std::string>> config;  // the options in config.ini, in their order
  Json environment;                                         // null if there is none
  std::vector<LoggedUpdate> updates;                        // ascending
  std::vector<LoggedValidation> validations;                // ascending
  std::vector<std::uint64_t> resumed;                       // the updates at which it resumed, in the order of the log
  std::uint64_t skipped_updates = 0;
  std::optional<std::string> stopped;  // the reason; empty if it is still running or was killed
  std::optional<std::time_t> logged;   // when the last line was written; none in logs of version 1
};

/// Thrown for a run that has not logged an update yet.
struct NoUpdateYet : Error {
  using Error::Error;
};

/// If an update was computed by several attempts, only its last line counts. A truncated line is skipped if it is the
/// last one (which is being written) or if an attempt begins after it (a kill truncated it). Throws Error (file, line)
/// for any other line that is no record, and for a folder that is no run, and NoUpdateYet.
Run read_run(const std::filesystem::path& path, std::string name);

}  // namespace rnnsearch::report
