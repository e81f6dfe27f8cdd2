// The bytes of a file, plain or compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace rnnsearch::corpus {

/// By what a file begins with, not by its name: gzip (RFC 1952), Zstandard (RFC 8878), xz, or plain. One thread at a
/// time.
class ByteSource {
 public:
  /// Throws Error for a file that is missing, a folder, not a regular file (it is read twice) or empty.
  static std::unique_ptr<ByteSource> open(const std::filesystem::path& path);
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Fills the buffer's beginning and returns how much; 0 at the end alone. Throws Error for a file that cannot be
  /// read, and for compressed data that is damaged or ends too early.
  virtual std::size_t read(std::span<char> buffer) = 0;
  /// The next byte to read, where that can be chosen: false, and nothing happens, for compressed data.
  virtual bool seek(std::uint64_t position);
  /// Bytes of the file itself that were read, or left out.
  virtual std::uint64_t position() const = 0;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }  // of the file itself

 protected:
  ByteSource(std::filesystem::path path, std::uint64_t size) : path_(std::move(path)), size_(size) {}

 private:
  std::filesystem::path path_;
  std::uint64_t size_;
};

}  // namespace rnnsearch::corpus
