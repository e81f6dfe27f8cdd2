// The folder of a run. Only the root writes to it:
//
//   RUN/config.ini          the complete configuration; `rnnsearch train --config RUN/config.ini` repeats the run
//   RUN/log.jsonl           one JSON object in each line: updates, validations, checkpoints, resumes, signals
//   RUN/environment.json    version, hosts, ranks, threads, command line ... of the last attempt
//   RUN/attempt             identifies the process that may write to the folder
//   RUN/checkpoints/        update-00012000.h5 ..., and the text files `latest` and `best`, which name one of them
//   RUN/validation/         translations of the development set, by update
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/train/checkpoint.h"
#include "rnnsearch/train/options.h"

namespace rnnsearch::train {

/// The checkpoints in the folder of a run, newest first.
std::vector<std::filesystem::path> checkpoints_of(const std::filesystem::path& run);

/// A checkpoint as it is; of a run directory its `best` checkpoint, or `latest` where none was validated. Throws Error.
std::filesystem::path checkpoint_of(const std::filesystem::path& run_or_checkpoint);

/// Returns read(find()). A training may replace and remove checkpoints at any time: if `read` throws an Error and
/// `find` finds something else than before, that is read instead, up to a hundred times.
template <class Find, class Read>
auto read_newest(const Find& find, const Read& read) {
  auto found = find();
  for (int attempt = 1;; ++attempt) {
    try {
      return read(found);
    } catch (const Error&) {
      auto next = find();
      if (next == found || attempt == 100) throw;
      found = std::move(next);
    }
  }
}

/// The folder of the run among whose files this one would be, whether it exists or not: in the subfolders of a run, or
/// beside them under a name of the list above. Other files may be kept in the folder of a run. `file` is absolute.
std::optional<std::filesystem::path> run_that_has(const std::filesystem::path& file);

/// Used by one thread, except that another one may call checkpoint_path, write_as_this_attempt and published at any
/// time. What it writes to a run it writes while it shares a lock with no attempt that takes over (AttemptLock).
class RunDirectory {
 public:
  /// Creates the folder, or opens the folder of the same run. Takes the right to write from earlier attempts and
  /// removes the temporary files that they left. Throws Error, with nothing changed, if the folder holds something
  /// else, a run whose config.ini differs in an option of `identity`, a run whose trainer still runs on this machine,
  /// or checkpoints although options.resume is "never" and the run was begun otherwise.
  /// With only_check nothing is ever changed, also by the other functions.
  RunDirectory(std::filesystem::path path, const TrainOptions& options, const Config& identity,
               bool only_check = false);
  /// Releases the right to write. Removes a folder that the constructor created unless the run was begun.
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path checkpoint_path(std::uint64_t update) const;
  /// Writes RUN/validation/NAME. Throws Error, also as check_attempt does.
  void write_validation(const std::string& name, const std::string& content) const;

  /// The checkpoint to resume from; empty to start from the beginning. The first call chooses it and verifies its
  /// digest; later calls return the same one. It is the newest one of the run. If that is damaged, it is renamed to
  /// *.damaged, a log line says so, `latest` and `best` no longer name it, and the previous one is taken. Throws Error
  /// if all are damaged (starting from the beginning would hide that). A run without checkpoints begins with the one
  /// whose path options.resume is.
  const std::optional<std::filesystem::path>& checkpoint_to_resume();

  /// Sets the content that begin writes to config.ini and environment.json.
  void set_record(std::string config_ini, const Json& environment);
  struct Change {
    std::string what, from, to;  // an option, and its value in the attempt before and now
  };
  /// Writes config.ini and environment.json, in which options that are Later::kFirst keep the values that the run began
  /// with once it has a checkpoint. Removes damaged lines of log.jsonl and says so. Returns the other options of
  /// config.ini whose values have changed. Call it when it is certain that this run can start or resume. REQUIRES:
  /// set_record was called.
  std::vector<Change> begin();

  /// Throws Error if another attempt has taken over: a process that was cut off from the cluster must not write any
  /// more. begin, published, write_validation and log check it first, and then write nothing.
  void check_attempt() const;
  /// Calls write(check). `write` calls `check` once, before what it writes becomes part of the run: no other attempt
  /// takes over from then until it returns. If it throws Error, the attempt is checked again: one that takes over
  /// removes the temporary files of the one before, and then that is what has happened.
  void write_as_this_attempt(const std::function<void(const std::function<void()>& check)>& write) const;
  /// Call it after a checkpoint was saved. It points `latest` to that checkpoint and `best` to the one of best_update,
  /// and removes the checkpoints that are neither the best nor among the newest `keep_checkpoints`. If best_update is
  /// 0, because nothing was measured yet or what was measured is another score now, the best stays the best. `best` is
  /// removed if its checkpoint does not exist.
  void published(std::uint64_t update, std::uint64_t best_update) const;
  bool has_checkpoint(std::uint64_t update) const { return std::filesystem::exists(checkpoint_path(update)); }

  /// Appends one line to log.jsonl. Throws Error, for example for a full disk.
  void log(const Json& record);

 private:
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  std::vector<std::uint64_t> updates() const;  // the updates that have a checkpoint, newest first
  std::optional<std::filesystem::path> choose_checkpoint() const;
  void mend_log() const;
  void write_pointer(const char* pointer, const std::string& checkpoint) const;
  void check_same_run(const Config& identity) const;
  void remove_temporaries() const;

  std::filesystem::path path_;
  std::string resume_;
  std::uint64_t keep_checkpoints_;
  std::string config_ini_, environment_;
  std::string attempt_;
  bool only_check_, made_here_;
  bool chosen_ = false;
  std::optional<std::filesystem::path> to_resume_;  // valid if chosen_
};

// Files that every rank reads for itself: corpora and checkpoints, opened only if all ranks have the same.

/// COLLECTIVE. The root verifies the digest of the whole file. Throws AgreedError on all ranks when one cannot open it
/// or their files differ, Stopped when a signal came.
corpus::Corpus open_corpus(const std::filesystem::path& path, const comm::Communicator& communicator);

/// COLLECTIVE. A checkpoint as it is; of a run directory the one that the root finds (checkpoint_of), and the next one
/// if a training removes it before all ranks have read it. Throws AgreedError on all ranks when one cannot open it or
/// the contents differ, Stopped when a signal came.
LoadedModel open_model(const std::filesystem::path& run_or_checkpoint, const comm::Communicator& communicator);

/// An attempt is a process that may write to the folder of a run. This identifies it and the folder in one line: host,
/// process id, start time of the process, because ids are reused, and device and inode of the folder, because a copy of
/// it is another run.
std::string this_attempt(const std::filesystem::path& run);

/// Whether the process of `attempt` runs on this machine, writes to this folder and is not this process. False for
/// processes of other machines, about which nothing is known.
bool lives_here(const std::string& attempt, const std::filesystem::path& run);

/// A lock (flock) on the file `attempt` of a run, until it is destroyed. A process that writes to the run shares it
/// from the moment when it reads its own name there; one that takes the run over holds it alone while it replaces the
/// name. Where lock_if_possible gives up, only a takeover within the same millisecond is not seen.
class AttemptLock {
 public:
  enum class Kind { kShared, kAlone };
  AttemptLock(const std::filesystem::path& run, Kind kind);
  ~AttemptLock();
  AttemptLock(const AttemptLock&) = delete;
  AttemptLock& operator=(const AttemptLock&) = delete;

 private:
  int file_ = -1;
};

}  // namespace rnnsearch::train
