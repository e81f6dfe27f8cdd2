// What a file may hold, compared with what this program writes before anything is read; and the reading of its numbers.
//
// The digest of a sealed file proves that the file is whole, not that its maker was honest. HDF5 1.10 runs whichever
// filters a dataset names, and then copies as many bytes as a chunk should have out of whatever they returned, beyond
// the end of its memory when that was less. So a dataset with another type, rank, layout, filters or size of chunk is
// refused when it is opened, and chunks are fetched as they are stored and unpacked here. All of it under the lock of
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

/// No larger chunk is written, nor read: it is what unpacking one takes of memory.
inline constexpr std::size_t kMostChunkBytes = 4 << 20;

struct Place {  // "FILE at /path"
  const std::string& file;
  const std::string& path;
};
[[noreturn]] void cannot(const char* act, const Place& place);
[[noreturn]] void unlike(const Place& place, const std::string& found, const std::string& expected);
/// "[3, 4]"
std::string shape_text(std::span<const std::uint64_t> shape);

/// The type of texts, in a file and in memory.
Handle text_type();

/// The group, dataset or named type at the end of hard links; not ok() when there is none. Throws Error for other links
/// on the way, which could lead to another file, and for groups whose links are packed by filters.
Handle find_object(hid_t file, const Place& place);
/// The same; throws Error when there is none.
Handle open_object(hid_t file, const Place& place);

/// A list of texts in one piece, or numbers in one or two dimensions: in chunks of at most kMostChunkBytes, with
/// Fletcher32 checksums and, if compressed, shuffled and deflated before. All of it was written, and the memory that
/// its shape asks for is at most 1032 times the size of the file, which is what deflate can give.
struct Dataset {
  Handle handle;
  hid_t type;  // of numbers; of texts H5I_INVALID_HID
  std::size_t element_bytes;
  std::vector<std::uint64_t> shape;
  std::vector<hsize_t> chunk;  // of numbers
  bool is_compressed;
};
/// Throws Error for what is no such dataset.
Dataset open_dataset(hid_t file, const Place& place);

/// The columns from `first_column` on of all rows, as bytes. A list is one row. REQUIRES: numbers, and a view within
/// their shape. Throws Error for a chunk that skips a filter or does not unpack to exactly its size.
void read_numbers(const Dataset& dataset, const Place& place, std::uint64_t first_column, MatrixView<std::byte> values);

/// Of one value, and of the type that this program writes: H5T_STRING, H5T_FLOAT (of 64 bits) or H5T_INTEGER (of 64
/// bits, signed or not). Throws Error for any other.
Handle open_attribute(hid_t file, const Place& place, const std::string& attribute, H5T_class_t type_class);

}  // namespace rnnsearch::storage
