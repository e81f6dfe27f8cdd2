// Whether texts can be read from where a file says that they lie.
//
// A text of variable length is stored as a reference (length, address of a global heap, index of an object in it), and
// HDF5 1.10 uses what it finds there unchecked: an index that the heap does not have, or a size that leads beyond it,
// makes it copy foreign memory, beyond the end of its own. Heaps bear no checksums, and the seal does not keep malice
// out. So references and heaps are compared before HDF5 follows any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace rnnsearch::storage {

inline constexpr std::size_t kReferenceBytes = 16;  // of one text

/// Of a dataset or an attribute (HDF5's ids) of texts of variable length, `count` of them; `place` names it in errors.
/// Throws Error for a reference that is not to an object of exactly the text's length in a sound heap, for two
/// references to one object (the texts together are then no larger than the file), for heaps that overlap, and for
/// files that are laid out otherwise than this program does: addresses of other sizes, a user block, an image of HDF5's
/// cache, which would stand for the bytes of the heaps. Takes 16 bytes of memory a text and 16 an object. Under the
/// lock of HDF5.
void check_text_references(std::int64_t file, std::int64_t dataset_or_attribute, std::size_t count,
                           const std::string& place);

}  // namespace rnnsearch::storage
