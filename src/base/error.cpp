#include "rnnsearch/base/error.h"

#include <mutex>
#include <new>
#include <system_error>

#include "rnnsearch/base/printable.h"

namespace rnnsearch {
namespace {

// A sentence names what was found at its beginning, and what to do at its end.
constexpr std::size_t kBeginning = 3000, kEnd = 900, kLongest = 4000;
constexpr std::string_view kGap = " [...] ";
static_assert(kBeginning + kGap.size() + kEnd <= kLongest);

std::string shortened(std::string_view line) {
  if (line.size() <= kLongest) return std::string(line);
  std::string_view end = line.substr(line.size() - kEnd);
  while (is_trail_byte(end.front())) end.remove_prefix(1);
  return std::string(whole_characters(line.substr(0, kBeginning))).append(kGap).append(end);
}

std::mutex mutex;
LogSink sink_in_use;

}  // namespace

Error::Error(const std::string& sentence) : std::runtime_error(shortened(printable(sentence))) {}

std::string sentence_of(const std::exception& exception) {
  const std::string text = exception.what();
  if (dynamic_cast<const std::bad_alloc*>(&exception)) return kNoMemory;
  if (const auto* of_file = dynamic_cast<const std::filesystem::filesystem_error*>(&exception)) {
    const std::string reason = of_file->code().message();
    constexpr std::string_view kBefore = "filesystem error: ";  // libstdc++: then the operation, reason and paths
    const std::string operation = text.starts_with(kBefore) ? text.substr(kBefore.size()) : text;
    return fmt::format("cannot access {}{}{}: {} ({})", of_file->path1(), of_file->path2().empty() ? "" : " or ",
                       of_file->path2(), reason, operation.substr(0, operation.find(": " + reason)));
  }
  const auto* of_system = dynamic_cast<const std::system_error*>(&exception);
  if ((of_system && of_system->code() == std::errc::resource_unavailable_try_again) ||
      text.find("pthread_create") != text.npos) {
    return fmt::format(
        "cannot start a thread: {}; the user has as many processes and threads as the system allows: raise that limit "
        "(ulimit -u, or the pids limit of a container), or give fewer --threads",
        text);
  }
  return text;
}

void set_log_sink(LogSink sink) {
  const std::lock_guard lock(mutex);
  sink_in_use = std::move(sink);
}

void log_line(const std::string& line) {
  const std::lock_guard lock(mutex);
  if (sink_in_use) sink_in_use(line);
}

}  // namespace rnnsearch
