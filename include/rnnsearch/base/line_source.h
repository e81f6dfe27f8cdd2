// The rules of every text that a command reads, and the reader of its lines.
//
// Lines end with "\n"; a last line without one counts, and no other character ends a line. A byte order mark at the
// beginning of the text and one "\r" at the end of a line are not text. Text is valid UTF-8 without NUL bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rnnsearch/base/file.h"
#include "rnnsearch/base/option.h"

namespace rnnsearch {

/// The limit on the length of a line of text: a file without line ends must not fill the memory.
struct LineLimit {
  std::size_t max_line_bytes = std::size_t{1} << 20;  // without the line end

  /// Describes the problem of a line that is longer, such as "longer than the 1048576 bytes of --max-line-bytes,
  /// beginning with 'a'". Quotes the first bytes of `line`, which need not be all of it.
  std::string problem(std::string_view line) const;
  /// Throws an Error that consists of `location`, which ends in "is " or ": ", the problem, and what to do.
  [[noreturn]] void refuse(const std::string& location, std::string_view line) const;
};

/// --max-line-bytes, which every command that reads text declares.
void declare(OptionList& options, LineLimit& o);

inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// A line, which lacks its "\n", without the "\r" at its end.
inline std::string_view without_return(std::string_view line) {
  return line.substr(0, line.size() - (line.ends_with('\r') ? 1 : 0));
}

/// The command that unpacks what begins with these bytes, "gzip", "zstd", "xz" or "bzip2"; empty if it is plain.
std::string_view unpacker_of(std::string_view begin);
/// Why it is not text, such as "byte 3: not valid UTF-8"; empty if it is. before: bytes of the line in front of `line`.
std::string problem_of_text(std::string_view line, std::size_t before = 0);
/// Throws Error with file, line and byte for what is not text. number: of the line, from 1.
void check_text(const std::string& name, std::uint64_t number, std::string_view line, std::size_t before = 0);

/// A whole text by these rules: without byte order mark and "\r", with an end of every line, and checked. `name` as in
/// errors.
std::string checked_text(std::string_view content, const std::string& name);
/// The text of a file, which is read as by read_file.
std::string read_text_file(const std::filesystem::path& path, const Poll& poll = {});

struct Line {
  std::string text;          // if it is too long, its beginning
  std::uint64_t number = 0;  // from 1
  std::string problem;       // why it is not a line of text; empty if it is
  bool too_long = false;
};

/// Reads lines one by one. Holds at most a line of the limit and what bytes gave last. Not thread-safe.
class LineSource {
 public:
  /// Calls the text `name` in errors.
  LineSource(std::unique_ptr<ByteStream> bytes, std::string name, const LineLimit& limit)
      : bytes_(std::move(bytes)), name_(std::move(name)), limit_(limit) {}

  /// The next line, also if it has a problem; returns false at the end. Without `wait` it also returns false if the end
  /// of the line has not arrived. A line that is too long is returned as soon as that is known.
  bool next(Line& line, bool wait = true);
  /// Appends the text of the next line, which the caller checks with check_text, perhaps on another thread; returns
  /// false at the end. Throws Error for a line that is too long.
  bool append(std::string& text);
  /// Throws Error with file, line and problem. REQUIRES: the line has a problem.
  [[noreturn]] void refuse(const Line& line) const;
  /// At most `count` further lines; fewer only at the end. Throws Error for a line with a problem.
  std::vector<std::string> next(std::size_t count);
  std::uint64_t lines() const { return lines_; }  // so far

 private:
  bool complete(bool wait);

  std::unique_ptr<ByteStream> bytes_;
  std::string name_;
  LineLimit limit_;
  std::string_view rest_;  // of what arrived last: not yet looked at
  std::string begun_;      // the line whose end has not arrived
  std::uint64_t lines_ = 0;
  bool begins_ = true;     // no bytes were looked at
  bool too_long_ = false;  // begun_, which is a line
  bool skips_ = false;     // the rest of a line that was too long
  bool ended_ = false;
};

}  // namespace rnnsearch
