#include "train/attempt.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/machine.h"

namespace rnnsearch::train {
namespace {

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

}  // namespace

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

AttemptLock::AttemptLock(const std::filesystem::path& run, Kind kind)
    : file_(::open((run / "attempt").c_str(), (kind == Kind::kAlone ? O_RDWR : O_RDONLY) | O_CLOEXEC)) {
  if (file_ >= 0) lock_if_possible(file_, kind == Kind::kAlone ? LOCK_EX : LOCK_SH);
}

AttemptLock::~AttemptLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace rnnsearch::train
