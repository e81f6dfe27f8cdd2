// The folder of a run, written by the root alone:
//
//   RUN/config.ini          the complete resolved configuration: `rnnsearch train --config RUN/config.ini` repeats the
//   run RUN/log.jsonl           one JSON object a line, appended: updates, validations, checkpoints, resumes, signals
//   RUN/environment.json    version, hosts, ranks, threads, command line ... of the last attempt
//   RUN/attempt             which process may write here
//   RUN/checkpoints/        update-00012000.h5 ..., and `latest`, `best`: text files that hold one of those names
//   RUN/validation/         translations of the dev set by update
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/json.h"
#include "rnnsearch/train/options.h"

namespace rnnsearch::train {

/// The checkpoints that a run's folder holds, newest first.
std::vector<std::filesystem::path> checkpoints_of(const std::filesystem::path& run);

class RunDirectory {
 public:
  /// Makes the folder, or enters one in which the same run was begun, takes the right to write from earlier attempts,
  /// and removes temporaries that dead ones left. Throws Error, with nothing changed, when the folder holds something
  /// else, a run whose config.ini differs in one of `identity`, a run whose trainer still lives on this machine, or
  /// checkpoints although options.resume is "never".
  RunDirectory(std::filesystem::path path, const TrainOptions& options, const Config& identity);
  /// Gives the right to write back. A folder that was made here is removed again unless the run was begun.
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path checkpoint_path(std::uint64_t update) const;
  /// Makes RUN/validation. Throws Error as check_attempt.
  std::filesystem::path validation_path(const std::string& name) const;

  /// Which checkpoint to go on from; nothing: from the beginning. "auto" takes the newest; a damaged one is renamed to
  /// *.damaged, log_line says so, `latest` and `best` no longer name it, and the one before is taken. Throws Error when all are damaged (starting anew would
  /// hide it), and for the path of a checkpoint while the folder holds checkpoints newer than that. Chosen at the first
  /// call, which reads it whole.
  const std::optional<std::filesystem::path>& checkpoint_to_resume();

  // What follows throws Error as check_attempt does, and then writes nothing.

  /// What begin writes into config.ini and environment.json.
  void set_record(std::string config_ini, Json environment);
  /// Writes them: once it is certain that this run can go on. REQUIRES set_record.
  void begin();

  /// Throws Error when another attempt has taken over: a process cut off from the cluster must not write any more.
  void check_attempt() const;
  /// After a checkpoint was saved: points `latest` to it, and `best` to the checkpoint of best_update, or to none where
  /// there is none, and removes those that are neither the newest `keep_checkpoints` nor the best.
  void published(std::uint64_t update, std::uint64_t best_update);
  bool has_checkpoint(std::uint64_t update) const;

  /// Appends one line to log.jsonl. Throws Error (a full disk, too).
  void log(const Json& record);

 private:
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  std::vector<std::uint64_t> updates() const;  // of the checkpoints there are, newest first
  std::optional<std::filesystem::path> choose_checkpoint() const;
  void write_pointer(const char* pointer, const std::string& checkpoint) const;
  void refuse_what_is_not_this_run(const Config& identity) const;
  void remove_temporaries() const;

  std::filesystem::path path_;
  std::string resume_;
  std::uint64_t keep_checkpoints_;
  std::string config_ini_;
  Json environment_;
  std::string attempt_;
  bool made_here_;
  bool chosen_ = false;
  std::optional<std::filesystem::path> to_resume_;  // once chosen
};

}  // namespace rnnsearch::train
