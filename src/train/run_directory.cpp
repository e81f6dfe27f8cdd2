#include "rnnsearch/train/run_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/log.h"
#include "rnnsearch/storage/sealed_file.h"
#include "train/attempt.h"

namespace rnnsearch::train {
namespace {

namespace fs = std::filesystem;

std::string checkpoint_name(std::uint64_t update) {
  std::array<char, 40> name{};
  std::snprintf(name.data(), name.size(), "update-%08llu.h5", static_cast<unsigned long long>(update));
  return name.data();
}

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

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n"), last = text.find_last_not_of(" \t\r\n");
  return first == text.npos ? "" : text.substr(first, last - first + 1);
}

/// The keys and values of an INI file.
Config read_ini(const fs::path& path) {
  std::istringstream lines(read_file(path));
  Config config;
  for (std::string line; std::getline(lines, line);) {
    line = trimmed(line);
    const auto equals = line.find('=');
    if (equals == line.npos || line.starts_with('#')) continue;
    config[trimmed(line.substr(0, equals))] = trimmed(line.substr(equals + 1));
  }
  return with_names_of_today(std::move(config));
}

void make_folder(const fs::path& path) {
  std::error_code reason;
  fs::create_directories(path, reason);
  if (reason) throw Error(text_of("cannot make the folder ", path.string(), ": ", reason.message()));
}

/// The checkpoint that a pointer file (`latest`, `best`) names; empty if the file does not exist.
std::string pointed_at(const fs::path& path) {
  return fs::exists(path) ? trimmed(read_file(path).substr(0, 100)) : "";
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
    if (!fs::exists(folder / link)) continue;
    std::string name = read_file(folder / link);
    while (!name.empty() && (name.back() == '\n' || name.back() == ' ')) name.pop_back();
    if (!fs::exists(folder / name)) {
      throw Error(text_of((folder / link).string(), " names ", name,
                          ", which is not there; name another checkpoint of ", folder.string()));
    }
    return folder / name;
  }
  throw Error(
      text_of(run_or_checkpoint.string(),
              " is a folder without checkpoints/best or checkpoints/latest; name a checkpoint, or a run directory "
              "in which rnnsearch train has written one"));
}

RunDirectory::RunDirectory(fs::path path, const TrainOptions& options, const Config& identity)
    : path_(std::move(path)),
      resume_(options.resume),
      keep_checkpoints_(options.keep_checkpoints),
      attempt_(this_attempt()),
      made_here_(!fs::exists(path_)) {
  check_same_run(identity);
  make_folder(checkpoints());
  write_file_atomically(path_ / "attempt", attempt_);
  check_attempt();
  remove_temporaries();
}

RunDirectory::~RunDirectory() {
  std::error_code ignored;
  try {
    if (read_file(path_ / "attempt") == attempt_) fs::remove(path_ / "attempt", ignored);
  } catch (const std::exception&) {  // the folder is gone, so there is nothing to release
  }
  if (!made_here_ || fs::exists(path_ / "config.ini", ignored)) return;
  fs::remove(checkpoints(), ignored);  // fs::remove fails for folders that are not empty
  fs::remove(path_, ignored);
}

void RunDirectory::set_record(std::string config_ini, Json environment) {
  config_ini_ = std::move(config_ini);
  environment_ = std::move(environment);
}

void RunDirectory::begin() {
  write_as_this_attempt([this] {
    write_file_atomically(path_ / "config.ini", config_ini_);
    write_file_atomically(path_ / "environment.json", environment_.dump(2) + '\n');
  });
}

void RunDirectory::check_same_run(const Config& identity) const {
  std::error_code reason;
  if (!fs::exists(path_, reason)) return;
  if (!fs::is_directory(path_)) throw Error(text_of("", path_.string(), " is a file; --run must name a folder"));
  if (fs::is_empty(path_)) return;
  if (!fs::exists(path_ / "config.ini")) {
    // A run that has just begun has its attempt file, perhaps an empty checkpoints folder, and nothing else.
    for (const auto& entry : fs::directory_iterator(path_)) {
      const std::string name = entry.path().filename().string();
      if (name == "attempt" || name.starts_with(".attempt.tmp-") || name.starts_with(".config.ini.tmp-")) continue;
      if (name == "checkpoints" && updates().empty()) continue;
      throw Error(text_of("the folder ", path_.string(), " holds ", name,
                          " and is not a run of rnnsearch; choose another --run"));
    }
  } else {
    const Config found = read_ini(path_ / "config.ini");
    for (const auto& [name, value] : identity) {
      const auto here = found.find(name);
      if (here == found.end() || here->second == value) continue;
      throw Error(text_of("", path_.string(), " holds another run: its ", name, " is ", here->second, ", now it is ",
                          value, "; use the same value, or choose another --run"));
    }
  }
  if (fs::exists(path_ / "attempt")) {
    const std::string other = read_file(path_ / "attempt");
    if (lives_here(other)) {
      throw Error(text_of("another trainer is writing to ", path_.string(), " (host, process, start: ",
                          trimmed(other.substr(0, other.find('\n'))), "); end it first, or choose another --run"));
    }
  }
  if (resume_ == "never" && !updates().empty()) {
    throw Error(text_of("", path_.string(),
                        " holds checkpoints and resume is never; choose another --run, or "
                        "--resume auto"));
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

fs::path RunDirectory::checkpoint_path(std::uint64_t update) const {
  return checkpoints() / checkpoint_name(update);
}

void RunDirectory::write_validation(const std::string& name, const std::string& content) const {
  write_as_this_attempt([&] {
    make_folder(path_ / "validation");
    write_file_atomically(path_ / "validation" / name, content);
  });
}

std::vector<std::uint64_t> RunDirectory::updates() const {
  return updates_in(checkpoints());
}

bool RunDirectory::has_checkpoint(std::uint64_t update) const {
  return fs::exists(checkpoint_path(update));
}

const std::optional<fs::path>& RunDirectory::checkpoint_to_resume() {
  if (!chosen_) to_resume_ = choose_checkpoint();
  chosen_ = true;
  return to_resume_;
}

std::optional<fs::path> RunDirectory::choose_checkpoint() const {
  const auto there = updates();
  if (resume_ != "auto" && resume_ != "never") {
    const fs::path wanted = resume_;
    std::error_code ignored;
    const auto update = update_of(wanted.filename().string());
    const bool own_newest =
        !there.empty() && update == there.front() && fs::equivalent(wanted, checkpoint_path(there.front()), ignored);
    if (!there.empty() && !own_newest) {
      throw Error(text_of("", path_.string(), " already holds ", checkpoint_name(there.front()),
                          ", so it cannot resume from ", resume_, " instead; choose another --run"));
    }
    return wanted;
  }
  std::vector<std::pair<fs::path, std::string>> damaged;  // the path and the reason
  for (const std::uint64_t update : there) {
    const fs::path path = checkpoint_path(update);
    try {
      storage::verify_seal(path, "checkpoint");
    } catch (const Error& error) {
      damaged.emplace_back(path, error.what());
      continue;
    }
    if (!damaged.empty()) write_pointer("latest", path.filename());
    for (const auto& [bad, why] : damaged) {
      if (pointed_at(checkpoints() / "best") == bad.filename()) fs::remove(checkpoints() / "best");
      log_line(text_of("[train] ", why, "; it is renamed to ", bad.filename().string(),
                       ".damaged and training resumes from ", path.filename().string()));
      fs::path aside = bad;
      fs::rename(bad, aside += ".damaged");
    }
    return path;
  }
  if (!damaged.empty()) {
    throw Error(text_of("all checkpoints of ", path_.string(), " are damaged (the newest: ", damaged.front().second,
                        "); choose another --run to start from the beginning"));
  }
  return {};
}

void RunDirectory::check_attempt() const {
  std::string other;
  try {
    other = read_file(path_ / "attempt");
  } catch (const Error& error) {
    throw Error(text_of("the attempt file of this run can no longer be read (", error.what(),
                        "), so this trainer stops writing"));
  }
  if (other == attempt_) return;
  throw Error(text_of("another trainer has taken over ", path_.string(), " (host, process, start: ",
                      trimmed(other.substr(0, other.find('\n'))), "), so this one stops writing"));
}

void RunDirectory::write_as_this_attempt(const std::function<void()>& write) const {
  check_attempt();
  try {
    write();
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
  write_as_this_attempt([&] {
    write_pointer("latest", checkpoint_name(update));
    if (has_checkpoint(best_update)) {
      write_pointer("best", checkpoint_name(best_update));
    } else {
      fs::remove(checkpoints() / "best");
    }
  });
  std::uint64_t kept = 0;
  for (const std::uint64_t there : updates()) {
    if (kept++ < keep_checkpoints_ || there == best_update) continue;
    std::error_code ignored;
    fs::remove(checkpoint_path(there), ignored);
  }
}

void RunDirectory::log(const Json& record) {
  check_attempt();
  const fs::path path = path_ / "log.jsonl";
  const int file = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  std::string line = record.dump() + '\n';
  bool fine = file >= 0;
  if (fine) {
    // A killed attempt may have left an incomplete line.
    const off_t end = ::lseek(file, 0, SEEK_END);
    char last = '\n';
    if (end > 0 && ::pread(file, &last, 1, end - 1) == 1 && last != '\n') line = text_of('\n', line);
    errno = ENOSPC;  // a short write means that the disk is full, but does not set errno
    fine = ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  }
  const int reason = errno;
  if (file >= 0) ::close(file);
  if (!fine) throw Error(text_of("cannot write ", path.string(), ": ", std::strerror(reason)));
}

}  // namespace rnnsearch::train
