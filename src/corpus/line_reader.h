// Lines of a text file that is hostile until read.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace rnnsearch::corpus {

inline constexpr std::size_t kLineBytes = 16u << 20;  // beyond it something is wrong: one line must fit into memory

/// Memory: one line and a small buffer. Errors name the file, the line (from 1) and the byte in it (from 1).
class LineReader {
 public:
  /// Throws Error for a file that is missing, a folder, not a regular file (it may be read twice) or empty.
  explicit LineReader(std::filesystem::path path);

  /// The next line without its "\n"; false at the end. A last line without "\n" counts. Throws Error for bytes that are
  /// no UTF-8, NUL bytes, and lines beyond kLineBytes. A byte order mark at the file's beginning is left out.
  bool next(std::string& line);
  /// Counts the lines that are left, whatever they hold.
  std::uint64_t skip_rest();

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t lines() const { return lines_; }  // so far
  std::uint64_t bytes() const { return bytes_; }  // so far
  std::uint64_t size() const { return size_; }    // of the file

 private:
  bool fill();
  void check(const std::string& line) const;

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::filesystem::path path_;
  std::uint64_t size_ = 0, lines_ = 0, bytes_ = 0;
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of what is not handed out yet
};

}  // namespace rnnsearch::corpus
