// HDF5 files behind owning handles. No other module includes HDF5.
//
// Paths inside a file are absolute, such as "/train/source_words"; missing groups are created. Every dataset is a
// little-endian array in one piece, without filters. A list of texts is a group of two datasets: `bytes` (uint8, UTF-8
// without NUL bytes) and `offset` (uint64; text i is bytes [offset[i], offset[i + 1])). Attributes are numbers of 64
// bits or texts of fixed length (UTF-8, padded with NUL bytes). Before anything is read, it is checked against these
// layouts (src/storage/content.h), because HDF5 does not check it. Every failure throws Error with the file, the
// location in it and HDF5's own reason. Thread-safe: calls are serialised in the order of their arrival.
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
  /// without locks would refuse, and files that others read are never changed in location.
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
  /// The names of the objects in a group, sorted.
  std::vector<std::string> children(const std::string& group) const;
  std::vector<std::uint64_t> shape(const std::string& dataset) const;

  template <Number T>
  void write(const std::string& dataset, std::span<const T> values);
  /// A view with a stride is written without a copy.
  template <Number T>
  void write(const std::string& dataset, ConstMatrixView<T> values);
  /// Creates a list, whose `size` values must then be written with write_range.
  template <Number T>
  void create_list(const std::string& dataset, std::uint64_t size);
  /// Writes elements [first, first + values.size()) of a list. Throws Error if it is shorter.
  template <Number T>
  void write_range(const std::string& dataset, std::uint64_t first, std::span<const T> values);
  void write_texts(const std::string& group, std::span<const std::string> texts);

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
  std::vector<std::string> read_texts(const std::string& group) const;

  /// Writes an attribute of a dataset or a group ("/" is the file), and replaces an existing one. A missing group is
  /// created. A text must not hold NUL bytes.
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
  template <Number T>
  T attribute(const std::string& object, const std::string& name) const;

 private:
  File(std::int64_t id, std::string name) : id_(id), name_(std::move(name)) {}
  template <Number T>
  void write_number(const std::string& object, const std::string& attribute, T value);

  std::int64_t id_;
  std::string name_;
};

/// Writes a list of known length piece by piece, through a small buffer.
template <Number T>
class ListWriter {
 public:
  /// `file` must outlive this object.
  ListWriter(File& file, const std::string& dataset, std::uint64_t size) : file_(file), dataset_(dataset), size_(size) {
    file.create_list<T>(dataset, size);
  }
  /// REQUIRES: values.size() <= room().
  void append(std::span<const T> values) {
    buffer_.insert(buffer_.end(), values.begin(), values.end());
    if (buffer_.size() >= kBufferElements) flush();
  }
  /// The number of values that are still missing.
  std::uint64_t room() const { return size_ - written_ - buffer_.size(); }
  void flush() {
    file_.write_range<T>(dataset_, written_, buffer_);
    written_ += buffer_.size();
    buffer_.clear();
  }

 private:
  static constexpr std::size_t kBufferElements = 1 << 16;
  File& file_;
  std::string dataset_;
  std::uint64_t size_, written_ = 0;
  std::vector<T> buffer_;
};

/// The version of the library for the record of a run, such as "HDF5 1.10.8".
std::string library();

}  // namespace rnnsearch::storage
