// Checks the content of a file against the layouts that this program writes, before anything is read.
//
// The digest of a sealed file proves that the file is complete, not that it comes from a trusted source. HDF5 1.10 runs
// any filters that a dataset names and copies what they return beyond the end of its memory, follows references to
// texts of variable length unchecked, and reads other files that a dataset names. Therefore only numbers in one piece
// of this file and attributes of fixed length are read. The caller must hold the lock of HDF5.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/handle.h"

namespace rnnsearch::storage {

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
