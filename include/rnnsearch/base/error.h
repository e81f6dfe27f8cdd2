// Errors, and log lines. Failures that the user or the machine can cause are thrown as Error; those that only a bug can
// cause are asserts.
#pragma once

#include <fmt/core.h>

#include <exception>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace rnnsearch {

/// Its text is one line that says what failed and where, what was found and expected, and what to do next. `main`
/// prints it and exits with code 1.
class Error : public std::runtime_error {
 public:
  /// Whatever the sentence quotes, what() is one line of printable UTF-8 and has at most 4000 bytes: it lacks the
  /// middle of a longer sentence.
  explicit Error(const std::string& sentence);
  /// The sentence is what fmt::format makes of the arguments. Text without arguments is never taken for a format.
  template <class First, class... Rest>
  explicit Error(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest)
      : Error(fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
};

/// The command line or its configuration file is wrong, whatever the files that it names contain. The program exits
/// with code 2, and job scripts do not retry it.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// The text that a user sees for std::bad_alloc.
inline constexpr const char* kNoMemory =
    "there is not enough memory: give the process more, or take smaller batches or a smaller model";

/// What a user is told of an exception: of one of ours its text; of one of the standard library and of oneTBB, whose
/// texts quote the system alone, what could not be done to what.
std::string sentence_of(const std::exception& exception);

// Log lines. Only cli prints. The other modules pass messages about their work (a fallback, a skipped update) to the
// sink that cli sets.

/// Receives one line without its line end, which begins with the module in brackets: "[data] ...". May be called from
/// any thread.
using LogSink = std::function<void(std::string_view line)>;

/// The default sink drops everything. Set it once, before threads start.
void set_log_sink(LogSink sink);
void log_line(const std::string& line);

}  // namespace rnnsearch

/// fmt prints a path as it is, without quotation marks.
template <>
struct fmt::formatter<std::filesystem::path> {
  constexpr auto parse(format_parse_context& context) { return context.begin(); }
  auto format(const std::filesystem::path& path, format_context& context) const {
    return fmt::format_to(context.out(), "{}", path.native());
  }
};
