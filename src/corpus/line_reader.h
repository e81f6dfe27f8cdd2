// Reads the lines of a text file. The content of the file is not trusted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/byte_source.h"
#include "rnnsearch/base/line_source.h"

namespace rnnsearch::corpus {

/// Memory: a small buffer. Errors name the file, the line and the byte in the line,
/// both counted from 1.
class LineReader {
 public:
  /// Throws Error as ByteSource::open does.
  LineReader(const std::filesystem::path& path, const LineLimit& limit);

  /// Whether all lines were read. Throws Error for a file that is empty after unpacking.
  bool at_end();
  /// Appends the next line (base/line_source.h: what is a line) without checking it; returns false at the end. Throws
  /// Error as at_end does, and for lines longer than the limit.
  bool append(std::string& text);
  /// Reads the next line and checks it with check_text; returns false at the end.
  bool next(std::string& line);
  /// Skips and counts the remaining lines, without checking them.
  std::uint64_t skip_rest();

  const std::filesystem::path& path() const { return source_->path(); }
  std::uint64_t lines() const { return lines_; }               // lines read or skipped so far
  std::uint64_t bytes() const { return source_->position(); }  // bytes of the file read so far
  std::uint64_t size() const { return source_->size(); }       // size of the file in bytes

 private:
  bool fill();

  std::unique_ptr<ByteSource> source_;
  LineLimit limit_;
  std::uint64_t lines_ = 0;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // the part of the buffer that is still to be read
};

}  // namespace rnnsearch::corpus
