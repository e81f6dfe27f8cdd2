// Log lines. Only cli prints. The other modules pass messages about their work (a fallback, a skipped update) to the
// sink that cli sets.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace rnnsearch {

/// Receives one line without its line end, which begins with the module in brackets: "[data] ...". May be called from
/// any thread.
using LogSink = std::function<void(std::string_view line)>;

/// The default sink drops everything. Set it once, before threads start.
void set_log_sink(LogSink sink);
void log_line(const std::string& line);

}  // namespace rnnsearch
