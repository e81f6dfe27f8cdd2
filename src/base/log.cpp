#include "rnnsearch/base/log.h"

#include <mutex>
#include <utility>

namespace rnnsearch {
namespace {
std::mutex mutex;
LogSink sink_in_use;
}  // namespace

void set_log_sink(LogSink sink) {
  const std::lock_guard lock(mutex);
  sink_in_use = std::move(sink);
}

void log_line(const std::string& line) {
  const std::lock_guard lock(mutex);
  if (sink_in_use) sink_in_use(line);
}

}  // namespace rnnsearch
