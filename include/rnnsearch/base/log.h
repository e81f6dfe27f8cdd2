// Rooms do not print. What a room has to say while it works (a fallback, a skipped update) goes to the sink that cli
// sets.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace rnnsearch {

/// Receives one whole line without its line end, beginning with the room in brackets: "[data] ...". Any thread may call
/// it.
using LogSink = std::function<void(std::string_view line)>;

/// The default sink drops everything. Set it once, before threads start.
void set_log_sink(LogSink sink);
void log_line(const std::string& line);

}  // namespace rnnsearch
