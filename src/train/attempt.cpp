#include "train/attempt.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/host_name.h"

namespace rnnsearch::train {
namespace {

/// Start time of a process in clock ticks since boot; empty if it does not exist or is a zombie (proc(5), stat).
std::string start_of(const std::string& pid) {
  std::ifstream stream(text_of("/proc/", pid, "/stat"));
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

}  // namespace

std::string this_attempt() {
  const std::string pid = std::to_string(::getpid());
  return text_of(host_name(), " ", pid, " ", start_of(pid), "\n");
}

bool lives_here(const std::string& attempt) {
  std::istringstream fields(attempt);
  std::string on, pid, start;
  fields >> on >> pid >> start;
  return on == host_name() && attempt != this_attempt() && !start.empty() && start_of(pid) == start;
}

}  // namespace rnnsearch::train
