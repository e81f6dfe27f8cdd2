// An unnamed temporary file for data that does not fit into memory. It disappears with the process at the latest.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace rnnsearch::corpus {

/// Is written first, then read. Not thread-safe, but several threads may each create one at the same time.
class TemporaryFile {
 public:
  /// The constructor and the members throw Error if the folder has no space left.
  explicit TemporaryFile(std::filesystem::path folder);

  void write(const void* bytes, std::size_t size);
  /// Ends the writing; the next `read` starts at the beginning.
  void rewind();
  /// Reads `size` bytes. Returns false if fewer are left.
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
