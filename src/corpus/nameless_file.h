// A file for what does not fit into memory: it has no name, and ends with the process at the latest.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace rnnsearch::corpus {

/// First written, then read. One thread at a time; several files may be made at the same time.
class NamelessFile {
 public:
  /// Members throw Error for a folder without room.
  explicit NamelessFile(std::filesystem::path folder);

  void write(const void* bytes, std::size_t size);
  /// Ends the writing; `read` begins at the beginning.
  void rewind();
  /// False at the end, or if less than that is left.
  bool read(void* bytes, std::size_t size);

 private:
  [[noreturn]] void fail() const;

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::filesystem::path folder_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace rnnsearch::corpus
