// Reads the bytes of plain or compressed files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "rnnsearch/base/file.h"

namespace rnnsearch::corpus {

/// Recognises gzip (RFC 1952), Zstandard (RFC 8878) and xz by the first bytes of a file, not by its name. Not
/// thread-safe.
class ByteSource : public ByteStream {
 public:
  /// Throws Error for a file that is missing, a folder, not a regular file (text is read twice) or empty, and for one
  /// that is markup by its name (.sgm, .sgml, .xml, .tmx).
  static std::unique_ptr<ByteSource> open(const std::filesystem::path& path, Poll poll = {});
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Reads up to buffer.size() bytes and returns their number; 0 only at the end. Throws Error for a file that cannot
  /// be read, and for compressed data that is damaged or truncated.
  virtual std::size_t read(std::span<char> buffer) = 0;
  /// Calls the poll and reads.
  std::string_view take() override;
  /// The position in the file itself, which for compressed data counts compressed bytes.
  virtual std::uint64_t position() const = 0;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }  // size of the file itself, in bytes

 protected:
  ByteSource(std::filesystem::path path, std::uint64_t size) : path_(std::move(path)), size_(size) {}

 private:
  std::filesystem::path path_;
  std::uint64_t size_;
  Poll poll_;
  std::vector<char> taken_;
};

}  // namespace rnnsearch::corpus
