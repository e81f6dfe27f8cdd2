// Creates what a file consists of: groups, datasets and attributes, in the layouts that content.h accepts. The caller
// must hold the lock of HDF5. Everything throws Error with HDF5's reason.
#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "storage/content.h"
#include "storage/handle.h"

namespace rnnsearch::storage {

/// Turns off the creation times of objects, so that the same content always gives the same bytes.
Handle without_times(hid_t kind);

/// chunk: shape of a chunk, or empty for a contiguous dataset without checksums (HDF5 has none for texts). A dataset
/// that grows is compressed. A dataset that grows, or is empty, is created without an upper bound.
Handle create_dataset(hid_t file, const Place& place, hid_t type, std::vector<hsize_t> extents,
                      std::vector<hsize_t> chunk, bool grows);

/// Writes an attribute with one value, and replaces an existing one. A missing object is created as a group.
void write_scalar(hid_t file, const Place& place, const std::string& attribute, hid_t type, hid_t memory_type,
                  const void* value);

}  // namespace rnnsearch::storage
