// What every call of HDF5 needs: its lock, owning handles of its ids, the reason of a failure; and checks of the
// content of a file against the layouts that this program writes, before anything is read.
//
// The digest of a sealed file proves that the file is complete, not that it comes from a trusted source. HDF5 1.10 runs
// any filters that a dataset names and copies what they return beyond the end of its memory, follows references to
// texts of variable length unchecked, and reads other files that a dataset names. Therefore only numbers in one piece
// of this file and attributes of fixed length are read. The caller must hold the Lock.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/storage/hdf5.h"

namespace rnnsearch::storage {

/// Holds the lock of HDF5 and sets HDF5 up. The first call turns off its exit handler, which loops forever over files
/// that a full disk kept from being closed, and plugins, which are code that a file could request. In each thread it
/// turns off printing: a thread-safe HDF5, such as Debian's, has an error stack for each thread and prints it by
/// default.
class Lock : Exclusive {
 public:
  Lock();
};

/// Owns an id of HDF5.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close close_with) : id_(id), close_(close_with) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  hid_t get() const { return id_; }
  bool ok() const { return id_ >= 0; }
  /// Returns false for errors, including those of the last flush of an object.
  bool close() { return close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_;
  Close close_;
};

/// Summarises and empties the error stack of HDF5: the system's reason if there is one, otherwise the outermost and
/// innermost messages. Call it at once, because any HDF5 call, also one that closes a handle, empties the stack.
std::string reason();

struct Location {  // named in errors as "FILE at /path"
  const std::string& file;
  const std::string& path;
};
[[noreturn]] void throw_failure(const char* act, const Location& location);
[[noreturn]] void throw_mismatch(const Location& location, const std::string& found, const std::string& expected);
/// The shape as text, such as "[3, 4]".
std::string shape_text(std::span<const std::uint64_t> shape);

/// The type of the text of an attribute, in the file and in memory.
Handle text_type(std::size_t bytes);

/// Finds a group, dataset or named type by following hard links; the result is not ok() if there is none. Throws Error
/// for other links in the path, which could lead to another file, and for groups whose links are packed by filters.
Handle find_object(hid_t file, const Location& location);
/// The same, but throws Error if there is none.
Handle open_object(hid_t file, const Location& location);

/// A checked dataset: numbers in one or two dimensions, in one piece of the file that has exactly the size of its
/// shape.
struct Dataset {
  Handle handle;
  hid_t type;  // type of the numbers, in the file and in memory
  std::vector<std::uint64_t> shape;
};
/// Throws Error if it is not such a dataset.
Dataset open_dataset(hid_t file, const Location& location);

/// Opens an attribute with one value of a type that this program writes: H5T_STRING (of fixed length), H5T_FLOAT (64
/// bits) or H5T_INTEGER (64 bits, signed or unsigned). Throws Error for any other attribute.
Handle open_attribute(hid_t file, const Location& location, const std::string& attribute, H5T_class_t type_class);

}  // namespace rnnsearch::storage
