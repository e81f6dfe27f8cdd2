// HDF5 behind owning handles. This is the one room that includes it.
//
// Paths inside a file are absolute: "/train/00000/source_words"; groups on the way are made as needed. Datasets of
// numbers have Fletcher-32 checksums (HDF5 has none for texts; the seal covers those). Numbers are little-endian,
// strings variable-length UTF-8 without NUL bytes. What is read is first compared with what this program writes
// (src/storage/content.h, src/storage/text_references.h), because HDF5 does not look. Every failure throws Error: the
// file, the place in it, HDF5's own reason. Any thread may call; calls wait for each other, in the order in which they
// came.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::storage {

template <class T>
concept Number = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::uint8_t> ||
    std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t> || std::same_as<T, std::int64_t>;

/// While it lives, the calls of other threads wait, so that a file of many parts is not written part by part between
/// the reads of another thread. Destroyed by the thread that made it.
class Exclusive {
 public:
  Exclusive();
  ~Exclusive();
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;
};

class File {
 public:
  /// An empty file; one that stands there is emptied (see SealedWriter for files that others may read). Errors call it
  /// `shown_as`, when given.
  static File create(const std::filesystem::path& path, const std::filesystem::path& shown_as = {});
  /// Read-only, and without file locks (unless HDF5_USE_FILE_LOCKING=TRUE asks for them): file systems without locks
  /// would refuse, and what others read is never written in place.
  static File open(const std::filesystem::path& path);
  /// Closes without a word about errors: a writer calls close().
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;

  /// Throws when not everything reached the file: a full disk is reported here.
  void close();
  const std::string& name() const { return name_; }

  /// As every function that names a place, throws Error for a link on the way that is not a hard one.
  bool exists(const std::string& path) const;
  bool is_group(const std::string& path) const;
  /// Names of what a group holds, sorted.
  std::vector<std::string> children(const std::string& group) const;
  std::vector<std::uint64_t> shape(const std::string& dataset) const;

  template <Number T>
  void write(const std::string& dataset, std::span<const T> values);
  /// A view with a stride is written without a copy.
  template <Number T>
  void write(const std::string& dataset, ConstMatrixView<T> values);
  void write_texts(const std::string& dataset, std::span<const std::string> texts);

  /// One-dimensional. The element type must be the one it was written with.
  template <Number T>
  std::vector<T> read(const std::string& dataset) const;
  /// Elements [first, first + count) of a one-dimensional dataset; throws when it holds fewer.
  template <Number T>
  std::vector<T> read_range(const std::string& dataset, std::uint64_t first, std::uint64_t count) const;
  /// The whole dataset into memory of exactly its shape; throws Error naming both shapes otherwise.
  template <Number T>
  void read_into(const std::string& dataset, std::span<T> values) const;
  template <Number T>
  void read_into(const std::string& dataset, MatrixView<T> values) const;
  std::vector<std::string> read_texts(const std::string& dataset) const;

  /// On a dataset or a group (made when it is not there; "/" is the file). Replaces an attribute of that name.
  void write_attribute(const std::string& object, const std::string& attribute, std::string_view text);
  void write_attribute(const std::string& object, const std::string& attribute, double value);
  template <std::integral T>
  void write_attribute(const std::string& object, const std::string& attribute, T value) {
    if constexpr (std::signed_integral<T>) {
      write_integer(object, attribute, std::int64_t{value});
    } else {
      write_integer(object, attribute, std::uint64_t{value});
    }
  }
  bool has_attribute(const std::string& object, const std::string& attribute) const;
  std::vector<std::string> attributes(const std::string& object) const;  // names, sorted
  std::string text_attribute(const std::string& object, const std::string& attribute) const;
  double double_attribute(const std::string& object, const std::string& attribute) const;
  std::int64_t integer_attribute(const std::string& object, const std::string& attribute) const;
  std::uint64_t unsigned_attribute(const std::string& object, const std::string& attribute) const;

 private:
  template <Number T>
  friend class Appender;
  File(std::int64_t id, std::string name) : id_(id), name_(std::move(name)) {}
  void write_integer(const std::string& object, const std::string& attribute, std::int64_t value);
  void write_integer(const std::string& object, const std::string& attribute, std::uint64_t value);

  std::int64_t id_;
  std::string name_;
};

/// A one-dimensional dataset that grows, in chunks of so many elements, each compressed (bytes of one rank together,
/// then deflate: filters that every HDF5 reads). Holds at most one chunk in memory.
template <Number T>
class Appender {
 public:
  Appender(File& file, const std::string& dataset, std::size_t chunk_elements);
  ~Appender();
  Appender(const Appender&) = delete;
  Appender& operator=(const Appender&) = delete;

  void append(std::span<const T> values);
  std::uint64_t size() const { return written_ + buffer_.size(); }
  /// Writes what is left. Without it the dataset ends at the last whole chunk.
  void close();

 private:
  void write_out(std::span<const T> values);

  std::int64_t id_;
  std::string place_;  // for errors
  std::size_t chunk_elements_;
  std::vector<T> buffer_;
  std::uint64_t written_ = 0;
};

/// "HDF5 1.10.8", for the record of a run.
std::string library();

}  // namespace rnnsearch::storage
