// A run directory as the report reads it: what the training was and how it went. It may still be going on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/base/json.h"

namespace rnnsearch::report {

/// A line of log.jsonl about the updates since the line before. Times in seconds an update; NaN where the line says
/// null (a loss that was not finite) or, of old runs, nothing.
struct LoggedUpdate {
  std::uint64_t update = 0;
  std::uint64_t updates = 0;   // since the logged line before
  double elapsed_seconds = 0;  // of updates up to here, without what a restart redid
  double epochs = 0;
  double loss_per_word = 0, gradient_norm = 0, learning_rate = 0;
  double source_words_per_second = 0, target_words_per_second = 0;
  double seconds = 0;  // of the parts that follow together; validations and checkpoints are between updates
  double compute_seconds = 0, communication_seconds = 0, data_seconds = 0, optimizer_seconds = 0;
};

struct LoggedValidation {
  std::uint64_t update = 0;
  double elapsed_seconds = 0;
  double loss_per_word = 0;
  double bleu = 0;  // NaN: was not measured
  bool best = false;
};

struct Run {
  std::string name;
  std::filesystem::path path;
  std::vector<std::pair<std::string, std::string>> config;  // config.ini, in its order
  Json environment;                                         // null: there is none
  std::vector<LoggedUpdate> updates;                        // ascending
  std::vector<LoggedValidation> validations;                // ascending
  std::vector<std::uint64_t> resumed;                       // at which updates, in the order of the log
  std::uint64_t skipped_updates = 0;
  std::optional<std::string> stopped;  // why; nothing: it goes on, or was killed
};

/// Of several attempts each update counts once, as it was done last: lines of updates that a restart redid are dropped.
/// A line that was cut off is passed over where that can be: the last one (it is being written), and one after which an
/// attempt begins (a kill cut it). Throws Error (file, line) for any other line that is no record, and for a folder
/// that is no run or has not logged an update yet.
Run read_run(const std::filesystem::path& path, std::string name);

}  // namespace rnnsearch::report
