// Checks the content of a file against the layouts that this program writes, before anything is read, and reads its
// numbers.
//
// The digest of a sealed file proves that the file is complete, not that it comes from a trusted source. HDF5 1.10 runs
// any filters that a dataset names, and then copies the nominal size of a chunk from their output, beyond the end of
// its memory if the output is shorter. Therefore a dataset with another type, rank, layout, filters or chunk size is
// rejected when it is opened, and chunks are read in stored form and unpacked here. The caller must hold the lock of
// HDF5.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "storage/handle.h"

namespace rnnsearch::storage {

/// The maximum size of a chunk that is written or read, which limits the memory for unpacking it.
inline constexpr std::size_t kMostChunkBytes = 4 << 20;

struct Place {  // named in errors as "FILE at /path"
  const std::string& file;
  const std::string& path;
};
[[noreturn]] void cannot(const char* act, const Place& place);
[[noreturn]] void unlike(const Place& place, const std::string& found, const std::string& expected);
/// The shape as text, such as "[3, 4]".
std::string shape_text(std::span<const std::uint64_t> shape);

/// The type of texts, in a file and in memory.
Handle text_type();

/// Finds a group, dataset or named type by following hard links; the result is not ok() if there is none. Throws Error
/// for other links in the path, which could lead to another file, and for groups whose links are packed by filters.
Handle find_object(hid_t file, const Place& place);
/// The same, but throws Error if there is none.
Handle open_object(hid_t file, const Place& place);

/// A checked dataset: a contiguous list of texts, or numbers in one or two dimensions in chunks of at most
/// kMostChunkBytes, with Fletcher32 checksums and, if compressed, shuffle and deflate. It was written completely, and
/// the memory for its shape is at most 1032 times the size of the file, the maximum ratio of deflate.
struct Dataset {
  Handle handle;
  hid_t type;  // type of the numbers; H5I_INVALID_HID for texts
  std::size_t element_bytes;
  std::vector<std::uint64_t> shape;
  std::vector<hsize_t> chunk;  // shape of the chunks of numbers
  bool is_compressed;
};
/// Throws Error if it is not such a dataset.
Dataset open_dataset(hid_t file, const Place& place);

/// Reads the columns from `first_column` on of all rows, as bytes. A list is one row. REQUIRES: the dataset holds
/// numbers, and the view is within its shape. Throws Error for a chunk that skips a filter or does not unpack to
/// exactly its size.
void read_numbers(const Dataset& dataset, const Place& place, std::uint64_t first_column, MatrixView<std::byte> values);

/// Opens an attribute with one value of a type that this program writes: H5T_STRING, H5T_FLOAT (64 bits) or H5T_INTEGER
/// (64 bits, signed or unsigned). Throws Error for any other attribute.
Handle open_attribute(hid_t file, const Place& place, const std::string& attribute, H5T_class_t type_class);

}  // namespace rnnsearch::storage
