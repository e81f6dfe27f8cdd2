#include "rnnsearch/train/run_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "rnnsearch/base/file.h"
#include "rnnsearch/base/line_source.h"
#include "rnnsearch/base/machine.h"
#include "rnnsearch/base/option.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/storage/sealed_file.h"

namespace rnnsearch::train {
namespace {

namespace fs = std::filesystem;

std::string checkpoint_name(std::uint64_t update) { return fmt::format("update-{:08}.h5", update); }

/// The update in a file name such as "update-00000010.h5"; nothing for other names.
std::optional<std::uint64_t> update_of(const std::string& name) {
  constexpr std::string_view kBefore = "update-", kAfter = ".h5";
  if (!name.starts_with(kBefore) || !name.ends_with(kAfter)) return {};
  std::uint64_t update = 0;
  const char* end = name.data() + name.size() - kAfter.size();
  const auto parsed = std::from_chars(name.data() + kBefore.size(), end, update);
  if (parsed.ec != std::errc() || parsed.ptr != end) return {};
  return update;
}

/// The keys and values of a configuration. Several values of one key are joined by commas.
Config values_in(const std::string& text, const fs::path& path) try {
  Config config;
  for (const auto& [key, value] : read_ini(text, path.string())) {
    std::string& values = config[key];
    values += (values.empty() ? "" : ", ") + value;
  }
  return config;
} catch (const UsageError& error) {  // not of this command line
  throw Error("{}; restore the file, or train in another --run", error.what());
}

/// `text` with the values that options which are Later::kFirst have in `before`. Says which other values are ignored.
std::string with_first_values(const std::string& text, const Config& before) {
  std::string firsts;
  std::map<std::string, std::string> defaults;
  TrainOptions options;
  const OptionList list = options_of(options);
  for (const Option& option : list.rows()) {
    if (option.later != Later::kFirst) continue;
    const auto [name, _] = *defaults.emplace(option.name, option.text()).first;
    if (const auto value = before.find(name); value != before.end()) firsts += ini_line(name, value->second);
  }
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const auto pairs = read_ini(line, "config.ini");
    const auto first = pairs.empty() ? defaults.end() : defaults.find(pairs.front().first);
    if (first == defaults.end()) {
      kept += line + "\n";
      continue;
    }
    kept += std::exchange(firsts, "");
    const auto former = before.find(first->first);
    const std::string& value = pairs.front().second;
    if (value == first->second || (former != before.end() && former->second == value)) continue;
    log_line(fmt::format("[train] {} is ignored, because this run has begun already", trimmed(line)));
  }
  return kept;
}

void make_folder(const fs::path& path) {
  std::error_code reason;
  fs::create_directories(path, reason);
  if (reason) throw Error("cannot make the folder {}: {}", path, reason.message());
}

/// The checkpoint that a pointer file (`latest`, `best`) names; empty if the file does not exist.
std::string pointed_at(const fs::path& path) {
  try {
    return std::string(trimmed(read_file(path).substr(0, 100)));
  } catch (const Error&) {  // a training may remove it at any time
    if (fs::exists(path)) throw;
    return "";
  }
}

/// The updates of the checkpoints in a folder, newest first.
std::vector<std::uint64_t> updates_in(const fs::path& folder) {
  std::vector<std::uint64_t> updates;
  if (!fs::is_directory(folder)) return updates;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (const auto update = update_of(entry.path().filename().string())) updates.push_back(*update);
  }
  std::sort(updates.rbegin(), updates.rend());
  return updates;
}

/// Start time of a process in clock ticks since boot; empty if it does not exist or is a zombie (proc(5), stat).
std::string start_of(const std::string& pid) {
  std::ifstream stream(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(stream, line);
  const auto name_end = line.rfind(')');
  if (name_end == line.npos) return "";
  std::istringstream fields(line.substr(name_end + 1));
  std::string field, state, start;
  fields >> state;  // field 3
  for (int i = 4; i <= 22; ++i) fields >> start;
  return state == "Z" || state == "X" ? "" : start;
}

std::string identity_of_folder(const std::filesystem::path& folder) {
  struct stat status {};
  return ::stat(folder.c_str(), &status) == 0 ? fmt::format("{}:{}", status.st_dev, status.st_ino) : "";
}

constexpr const char* kAdvice = "give every host the same file, or name one on a file system that they share";

}  // namespace

std::vector<fs::path> checkpoints_of(const fs::path& run) {
  const fs::path folder = run / "checkpoints";
  std::vector<fs::path> paths;
  for (const std::uint64_t update : updates_in(folder)) paths.push_back(folder / checkpoint_name(update));
  return paths;
}

fs::path checkpoint_of(const fs::path& run_or_checkpoint) {
  if (!fs::is_directory(run_or_checkpoint)) return run_or_checkpoint;
  const fs::path folder = run_or_checkpoint / "checkpoints";
  for (const char* link : {"best", "latest"}) {
    const auto name = [&] { return pointed_at(folder / link); };
    if (name().empty()) continue;
    return read_newest(name, [&](const std::string& checkpoint) {
      if (fs::exists(folder / checkpoint)) return folder / checkpoint;
      throw Error("{} names {}, which is not there; name another checkpoint of {}", folder / link, checkpoint, folder);
    });
  }
  throw Error(
      "{} is a folder without checkpoints/best or checkpoints/latest; name a checkpoint, or a run directory in which "
      "rnnsearch train has written one",
      run_or_checkpoint);
}

std::optional<fs::path> run_that_has(const fs::path& file) {
  const auto is_run = [](const fs::path& folder) {
    std::error_code ignored;
    for (const char* name : {"log.jsonl", "environment.json", "attempt", "checkpoints/latest", "checkpoints/best"}) {
      if (fs::exists(folder / name, ignored)) return true;
    }
    return false;
  };
  fs::path inside = file;
  for (fs::path folder = file.parent_path(); folder != inside; inside = folder, folder = folder.parent_path()) {
    const std::string name = inside.filename().string();
    for (const char* own : {"config.ini", "log.jsonl", "environment.json", "attempt", "checkpoints", "validation"}) {
      if ((name == own || name.starts_with(fmt::format(".{}.", own))) && is_run(folder)) return folder;
    }
  }
  return std::nullopt;
}

RunDirectory::RunDirectory(fs::path path, const TrainOptions& options, const Config& identity, bool only_check)
    : path_(std::move(path)),
      resume_(options.resume),
      keep_checkpoints_(options.keep_checkpoints),
      only_check_(only_check),
      made_here_(!only_check && !fs::exists(path_)) {
  check_same_run(identity);
  if (only_check_) {
    fs::path there = fs::absolute(path_);
    while (!fs::exists(there) && there.has_relative_path()) there = there.parent_path();
    if (!fs::is_directory(there) || ::access(there.c_str(), W_OK) != 0)
      throw Error("cannot write to {}: {} is not a folder that you may write to; choose another --run", path_, there);
    return;
  }
  make_folder(checkpoints());
  attempt_ = this_attempt(path_);
  {
    const AttemptLock lock(path_, AttemptLock::Kind::kAlone);
    write_file_atomically(path_ / "attempt", attempt_);
  }
  check_attempt();
  remove_temporaries();
}

RunDirectory::~RunDirectory() {
  std::error_code ignored;
  try {
    const AttemptLock lock(path_, AttemptLock::Kind::kShared);
    if (read_file(path_ / "attempt") == attempt_) fs::remove(path_ / "attempt", ignored);
  } catch (const std::exception&) {  // the folder is gone, so there is nothing to release
  }
  if (!made_here_ || fs::exists(path_ / "config.ini", ignored)) return;
  fs::remove(checkpoints(), ignored);  // fs::remove fails for folders that are not empty
  fs::remove(path_, ignored);
}

void RunDirectory::set_record(std::string config_ini, const Json& environment) {
  config_ini_ = std::move(config_ini);
  environment_ = json_text(environment, 2) + '\n';
}

std::vector<RunDirectory::Change> RunDirectory::begin() {
  std::vector<Change> changes;
  write_as_this_attempt([&](const auto& check) {
    check();
    if (fs::exists(path_ / "config.ini")) {
      Config before = values_in(read_text_file(path_ / "config.ini"), path_ / "config.ini");
      if (!updates().empty()) config_ini_ = with_first_values(config_ini_, before);
      Config now = values_in(config_ini_, path_ / "config.ini");
      for (const auto& [name, _] : before) now[name];  // optional ones may be absent
      for (const auto& [name, value] : now) {
        if (before[name] != value) changes.push_back({name, before[name], value});
      }
    }
    write_file_atomically(path_ / "config.ini", config_ini_);
    write_file_atomically(path_ / "environment.json", environment_);
    mend_log();
  });
  return changes;
}

void RunDirectory::check_same_run(const Config& identity) const {
  std::error_code reason;
  if (!fs::exists(path_, reason)) return;
  if (!fs::is_directory(path_)) throw Error("{} is a file; --run must name a folder", path_);
  if (fs::is_empty(path_)) return;
  if (!fs::exists(path_ / "config.ini")) {
    // A run that has just begun has its attempt file, perhaps an empty checkpoints folder, and nothing else.
    for (const auto& entry : fs::directory_iterator(path_)) {
      const std::string name = entry.path().filename().string();
      if (name == "attempt" || name.starts_with(".attempt.tmp-") || name.starts_with(".config.ini.tmp-")) continue;
      if (name == "checkpoints" && updates().empty()) continue;
      throw Error("the folder {} holds {} and is not a run of rnnsearch; choose another --run", path_, name);
    }
  } else {
    const Config found = values_in(read_text_file(path_ / "config.ini"), path_ / "config.ini");
    for (const auto& [name, value] : identity) {
      const auto here = found.find(name);
      if (here == found.end() || here->second == value) continue;
      throw Error("{} holds another run: its {} is {}, now it is {}; use the same value, or choose another --run",
                  path_, name, here->second, value);
    }
    const auto began = found.find("resume");
    if (resume_ == "never" && !updates().empty() && (began == found.end() || began->second != "never")) {
      throw Error(
          "{} holds checkpoints of a run that was not begun with --resume never; choose another --run, or --resume "
          "auto",
          path_);
    }
  }
  if (fs::exists(path_ / "attempt")) {
    const std::string other = read_file(path_ / "attempt");
    if (lives_here(other, path_)) {
      throw Error("another trainer is writing to {} (host, process, start: {}); end it first, or choose another --run",
                  path_, trimmed(other.substr(0, other.find('\n'))));
    }
  }
}

void RunDirectory::remove_temporaries() const {
  for (const auto& folder : {path_, checkpoints(), path_ / "validation"}) {
    if (!fs::is_directory(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      std::error_code ignored;
      if (name.starts_with('.') && name.find(".tmp-") != name.npos) fs::remove(entry.path(), ignored);
    }
  }
}

fs::path RunDirectory::checkpoint_path(std::uint64_t update) const { return checkpoints() / checkpoint_name(update); }

void RunDirectory::write_validation(const std::string& name, const std::string& content) const {
  write_as_this_attempt([&](const auto& check) {
    check();
    make_folder(path_ / "validation");
    write_file_atomically(path_ / "validation" / name, content);
  });
}

std::vector<std::uint64_t> RunDirectory::updates() const { return updates_in(checkpoints()); }

const std::optional<fs::path>& RunDirectory::checkpoint_to_resume() {
  if (!chosen_) to_resume_ = choose_checkpoint();
  chosen_ = true;
  return to_resume_;
}

std::optional<fs::path> RunDirectory::choose_checkpoint() const {
  const auto there = updates();
  if (there.empty() && resume_ != "auto" && resume_ != "never") return resume_;
  std::vector<std::pair<fs::path, std::string>> damaged;  // the path and the reason
  for (const std::uint64_t update : there) {
    const fs::path path = checkpoint_path(update);
    try {
      storage::verify_seal(path, "checkpoint");
    } catch (const storage::DamagedFile& error) {  // others may pass, such as those of a file server
      damaged.emplace_back(path, error.what());
      continue;
    }
    if (only_check_ || damaged.empty()) return path;
    write_as_this_attempt([&](const auto& check) {
      check();
      write_pointer("latest", path.filename());
      for (const auto& [bad, why] : damaged) {
        if (pointed_at(checkpoints() / "best") == bad.filename()) fs::remove(checkpoints() / "best");
        log_line(fmt::format("[train] {}; it is renamed to {}.damaged and training resumes from {}", why,
                             bad.filename(), path.filename()));
        fs::path aside = bad;
        fs::rename(bad, aside += ".damaged");
      }
    });
    return path;
  }
  if (!damaged.empty()) {
    throw Error("all checkpoints of {} are damaged (the newest: {}); choose another --run to start from the beginning",
                path_, damaged.front().second);
  }
  return {};
}

void RunDirectory::check_attempt() const {
  std::string other;
  try {
    other = read_file(path_ / "attempt");
  } catch (const Error& error) {
    throw Error("the attempt file of this run can no longer be read ({}), so this trainer stops writing", error.what());
  }
  if (other == attempt_) return;
  throw Error("another trainer has taken over {} (host, process, start: {}), so this one stops writing", path_,
              trimmed(other.substr(0, other.find('\n'))));
}

void RunDirectory::write_as_this_attempt(const std::function<void(const std::function<void()>&)>& write) const {
  if (only_check_) return;
  std::optional<AttemptLock> lock;
  try {
    write([&] {
      lock.emplace(path_, AttemptLock::Kind::kShared);
      check_attempt();
    });
  } catch (const Error&) {
    check_attempt();
    throw;
  }
}

void RunDirectory::write_pointer(const char* pointer, const std::string& checkpoint) const {
  const fs::path path = checkpoints() / pointer;
  if (pointed_at(path) != checkpoint) write_file_atomically(path, checkpoint + "\n");
}

void RunDirectory::published(std::uint64_t update, std::uint64_t best_update) const {
  write_as_this_attempt([&](const auto& check) {
    check();
    write_pointer("latest", checkpoint_name(update));
    const std::string best = best_update > 0 ? checkpoint_name(best_update) : pointed_at(checkpoints() / "best");
    if (!best.empty() && fs::exists(checkpoints() / best)) {
      write_pointer("best", best);
    } else {
      fs::remove(checkpoints() / "best");
    }
    std::uint64_t kept = 0;
    for (const std::uint64_t there : updates()) {
      if (kept++ < keep_checkpoints_ || checkpoint_name(there) == best) continue;
      std::error_code ignored;
      fs::remove(checkpoint_path(there), ignored);
    }
  });
}

void RunDirectory::mend_log() const {
  const fs::path path = path_ / "log.jsonl";
  if (!fs::exists(path)) return;
  const std::string content = read_file(path);
  std::istringstream lines(content);
  std::string kept;
  std::size_t damaged = 0;
  for (std::string line; std::getline(lines, line);) {
    try {
      member(parse_json(line, ""), "event");
      kept += line + '\n';
    } catch (const Error&) {
      ++damaged;
    }
  }
  if (kept == content) return;
  write_file_atomically(path, kept);
  if (damaged == 0) return;
  log_line(fmt::format("[train] {}: {} of its lines {} damaged, as an interrupted write leaves them, and {} removed",
                       path, damaged, damaged == 1 ? "was" : "were", damaged == 1 ? "is" : "are"));
}

void RunDirectory::log(const Json& record) {
  const fs::path path = path_ / "log.jsonl";
  const std::string line = json_text(record) + '\n';
  write_as_this_attempt([&](const auto& check) {
    check();
    const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    errno = file >= 0 ? ENOSPC : errno;  // a short write means that the disk is full, but does not set errno
    const bool fine = file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    const int reason = errno;
    if (file >= 0) ::close(file);
    if (!fine) throw Error("cannot write {}: {}", path, std::strerror(reason));
  });
}

std::string this_attempt(const std::filesystem::path& run) {
  const std::string pid = std::to_string(::getpid());
  return fmt::format("{} {} {} {}\n", host_name(), pid, start_of(pid), identity_of_folder(run));
}

bool lives_here(const std::string& attempt, const std::filesystem::path& run) {
  std::istringstream fields(attempt);
  std::string on, pid, start, folder;
  fields >> on >> pid >> start >> folder;
  return on == host_name() && attempt != this_attempt(run) && folder == identity_of_folder(run) && !start.empty() &&
         start_of(pid) == start;
}

AttemptLock::AttemptLock(const std::filesystem::path& run, Kind kind) {
  const fs::path path = run / "attempt";
  struct stat opened {};
  struct stat named {};
  // Until the locked file is still the one of this name: another attempt may have replaced it meanwhile.
  for (int tries = 0; tries < 100; ++tries) {
    if (file_ >= 0) ::close(file_);
    file_ = ::open(path.c_str(), (kind == Kind::kAlone ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (file_ < 0) return;
    lock_if_possible(file_, kind == Kind::kAlone ? LOCK_EX : LOCK_SH);
    if (::fstat(file_, &opened) != 0 || ::stat(path.c_str(), &named) != 0 || opened.st_ino == named.st_ino) return;
  }
}

AttemptLock::~AttemptLock() {
  if (file_ >= 0) ::close(file_);
}

corpus::Corpus open_corpus(const std::filesystem::path& path, const comm::Communicator& communicator) {
  std::optional<corpus::Corpus> corpus;
  const auto verify = communicator.is_root() ? corpus::Verify::kDigest : corpus::Verify::kSkip;
  comm::agree(communicator, {fmt::format("corpus {}", path), kAdvice, [&] {
                               const comm::Activity activity(communicator, "verifies the corpus");
                               corpus.emplace(path, verify, stop_if_signal_came);
                               // The digest is that of dev and test sets, too.
                               return fmt::format("the fingerprint {} and the digest {}", corpus->fingerprint(),
                                                  storage::sealed_digest(path, "corpus"));
                             }});
  return *std::move(corpus);
}

LoadedModel open_model(const std::filesystem::path& run_or_checkpoint, const comm::Communicator& communicator) {
  std::string checkpoint;
  std::optional<LoadedModel> loaded;
  const auto find = [&] {
    return comm::at_root(communicator, [&] { return checkpoint_of(run_or_checkpoint).string(); });
  };
  read_newest(find, [&](const std::string& found) {
    checkpoint = found;
    comm::agree(communicator, {fmt::format("checkpoint {}", checkpoint), kAdvice, [&] {
                                 const comm::Activity activity(communicator, "reads the checkpoint");
                                 const std::string digest = storage::sealed_digest(checkpoint, "checkpoint");
                                 loaded.emplace(load_model(checkpoint, stop_if_signal_came));
                                 loaded->digest = digest;
                                 return "the digest " + digest;
                               }});
  });
  if (communicator.is_root()) {
    const std::string changed = corpus::changed_libraries(loaded->pipeline);
    if (!changed.empty()) log_line(fmt::format("[model] the corpus of {}: {}", checkpoint, changed));
  }
  return *std::move(loaded);
}

}  // namespace rnnsearch::train
