// HDF5 files behind owning handles. No other module includes HDF5.
//
// Paths inside a file are absolute, such as "/train/00000/source_words"; missing groups are created. Datasets of
// numbers have Fletcher-32 checksums (HDF5 has none for texts; the seal covers those). Numbers are little-endian,
// strings are variable-length UTF-8 without NUL bytes. Before anything is read, it is checked against the layouts that
// this program writes (src/storage/content.h, src/storage/text_references.h), because HDF5 does not check it. Every
// failure throws Error with the file, the place in it and HDF5's own reason. Thread-safe: calls are serialised in the
// order of their arrival.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::storage {

template <class T>
concept Number = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::uint8_t> ||
    std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t> || std::same_as<T, std::int64_t>;

/// Makes the calls of other threads wait while it exists, so that the reads of another thread do not come between the
/// parts of a file that is being written. The thread that creates it must destroy it.
class Exclusive {
 public:
  Exclusive();
  ~Exclusive();
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;
};

class File {
 public:
  /// Creates an empty file, or truncates an existing one (see SealedWriter for files that others may read). shown_as:
  /// its name in errors, if given.
  static File create(const std::filesystem::path& path, const std::filesystem::path& shown_as = {});
  /// Opens a file read-only and without file locks, unless HDF5_USE_FILE_LOCKING=TRUE requests them: file systems
  /// without locks would refuse, and files that others read are never changed in place.
  static File open(const std::filesystem::path& path);
  /// Closes the file and ignores errors; a writer must call close().
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;

  /// Throws Error if not everything could be written; a full disk is reported here.
  void close();
  const std::string& name() const { return name_; }

  /// Like every function that takes a path, it throws Error if the path contains a link that is not a hard link.
  bool exists(const std::string& path) const;
  bool is_group(const std::string& path) const;
  /// The names of the objects in a group, sorted.
  std::vector<std::string> children(const std::string& group) const;
  std::vector<std::uint64_t> shape(const std::string& dataset) const;

  template <Number T>
  void write(const std::string& dataset, std::span<const T> values);
  /// A view with a stride is written without a copy.
  template <Number T>
  void write(const std::string& dataset, ConstMatrixView<T> values);
  void write_texts(const std::string& dataset, std::span<const std::string> texts);

  /// Reads a one-dimensional dataset. The element type must be the one that it was written with.
  template <Number T>
  std::vector<T> read(const std::string& dataset) const;
  /// Reads elements [first, first + count) of a one-dimensional dataset. Throws Error if it has fewer.
  template <Number T>
  std::vector<T> read_range(const std::string& dataset, std::uint64_t first, std::uint64_t count) const;
  /// Reads a whole dataset into memory of exactly its shape. Throws Error, naming both shapes, if the shapes differ.
  template <Number T>
  void read_into(const std::string& dataset, std::span<T> values) const;
  template <Number T>
  void read_into(const std::string& dataset, MatrixView<T> values) const;
  std::vector<std::string> read_texts(const std::string& dataset) const;

  /// Writes an attribute of a dataset or a group ("/" is the file), and replaces an existing one. A missing group is
  /// created.
  void write_attribute(const std::string& object, const std::string& attribute, std::string_view text);
  template <class T>
  requires std::is_arithmetic_v<T>
  void write_attribute(const std::string& object, const std::string& attribute, T value) {
    using Stored = std::conditional_t<std::floating_point<T>, double,
                                      std::conditional_t<std::signed_integral<T>, std::int64_t, std::uint64_t>>;
    write_number(object, attribute, Stored{value});
  }
  bool has_attribute(const std::string& object, const std::string& attribute) const;
  std::vector<std::string> attributes(const std::string& object) const;  // names, sorted
  std::string text_attribute(const std::string& object, const std::string& attribute) const;
  double double_attribute(const std::string& object, const std::string& attribute) const {
    return number_attribute<double>(object, attribute);
  }
  std::int64_t integer_attribute(const std::string& object, const std::string& attribute) const {
    return number_attribute<std::int64_t>(object, attribute);
  }
  std::uint64_t unsigned_attribute(const std::string& object, const std::string& attribute) const {
    return number_attribute<std::uint64_t>(object, attribute);
  }

 private:
  template <Number T>
  friend class Appender;
  File(std::int64_t id, std::string name) : id_(id), name_(std::move(name)) {}
  template <Number T>
  void write_number(const std::string& object, const std::string& attribute, T value);
  template <Number T>
  T number_attribute(const std::string& object, const std::string& attribute) const;

  std::int64_t id_;
  std::string name_;
};

/// A one-dimensional dataset that grows, in chunks of `chunk_elements` elements. Each chunk is compressed with shuffle
/// and deflate, filters that every HDF5 can read. Holds at most one chunk in memory.
template <Number T>
class Appender {
 public:
  Appender(File& file, const std::string& dataset, std::size_t chunk_elements);
  ~Appender();
  Appender(const Appender&) = delete;
  Appender& operator=(const Appender&) = delete;

  void append(std::span<const T> values);
  std::uint64_t size() const { return written_ + buffer_.size(); }
  /// Writes the remaining elements. Without this call the dataset ends after its last complete chunk.
  void close();

 private:
  void write_out(std::span<const T> values);

  std::int64_t id_;
  std::string place_;  // name of the dataset in errors
  std::size_t chunk_elements_;
  std::vector<T> buffer_;
  std::uint64_t written_ = 0;
};

/// The version of the library for the record of a run, such as "HDF5 1.10.8".
std::string library();

}  // namespace rnnsearch::storage
