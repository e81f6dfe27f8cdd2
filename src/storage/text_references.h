// Checks the references to texts in a file before HDF5 follows them.
//
// A text of variable length is stored as a reference (length, address of a global heap, index of an object in it). HDF5
// 1.10 uses these numbers unchecked: an index that the heap does not have, or a size that exceeds it, makes it copy
// memory beyond its own buffer. Heaps have no checksums, and the seal does not protect against malicious files.
// Therefore references and heaps are checked first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace rnnsearch::storage {

inline constexpr std::size_t kReferenceBytes = 16;  // bytes of a reference

/// Checks the `count` texts of a dataset or an attribute (an HDF5 id); `place` names it in errors. Throws Error for a
/// reference that does not name an object of exactly the text's length in a valid heap, for two references to one
/// object (so all texts together are at most as large as the file), for overlapping heaps, and for files with a layout
/// that this program does not write: other address sizes, a user block, or an image of HDF5's cache, which would
/// replace the bytes of the heaps. Takes 16 bytes of memory for each text and each object. The caller must hold the
/// lock of HDF5.
void check_text_references(std::int64_t file, std::int64_t dataset_or_attribute, std::size_t count,
                           const std::string& place);

}  // namespace rnnsearch::storage
