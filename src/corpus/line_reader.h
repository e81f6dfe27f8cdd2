// Lines of a text file that is hostile until read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/byte_source.h"
#include "corpus/line_index.h"
#include "rnnsearch/corpus/test_set_file.h"
#include "rnnsearch/corpus/text_stream.h"

namespace rnnsearch::corpus {

inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Memory: a small buffer, or a whole test set. Errors name the file, the line (from 1) and the byte in it (from 1).
class LineReader {
 public:
  /// With `part`, a file that test_set_name() knows is read as a test set, whose segments are the lines. Throws Error
  /// as ByteSource::open and read_test_set do.
  explicit LineReader(const std::filesystem::path& path, std::optional<TestSetPart> part = std::nullopt);

  /// No line is left. Throws Error for a file that is empty once it is unpacked.
  bool at_end();
  /// Appends the next line without its "\n", unchecked; false at the end. A last line without "\n" counts. A byte order
  /// mark at the file's beginning is left out. Throws Error as at_end does, and for lines beyond kLineBytes.
  bool append(std::string& text);
  /// The next line, checked by check_line.
  bool next(std::string& line);
  /// Leaves out lines, whatever they hold, until `line` lines were before or the text ends. `index`, if any, says where
  /// lines of this file begin. Throws Error for a file in which they do not begin there any more.
  void skip_to(std::uint64_t line, const LineIndex* index);
  /// Counts the lines that are left, whatever they hold.
  std::uint64_t skip_rest();

  const std::filesystem::path& path() const { return source_->path(); }
  const std::optional<TestSet>& test_set() const { return test_set_; }  // if it is one
  std::string_view unit() const { return test_set_ ? "segments" : "lines"; }
  std::uint64_t lines() const { return lines_; }                                    // so far
  std::uint64_t bytes() const { return test_set_ ? size() : source_->position(); }  // of the file so far
  std::uint64_t size() const { return source_->size(); }                            // of the file

 private:
  bool fill();
  std::uint64_t skip(std::uint64_t lines);  // how many there were

  std::unique_ptr<ByteSource> source_;
  std::optional<TestSet> test_set_;
  std::uint64_t lines_ = 0;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of what is not handed out yet
};

/// Throws Error for NUL bytes and for bytes that are no UTF-8. number: from 1. before: bytes of the line that stand
/// before this part of it.
void check_line(const std::filesystem::path& path, std::uint64_t number, std::string_view line, std::size_t before = 0);

}  // namespace rnnsearch::corpus
