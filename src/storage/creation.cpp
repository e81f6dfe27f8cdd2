#include "storage/creation.h"

#include <algorithm>

namespace rnnsearch::storage {
namespace {

constexpr unsigned kDeflateLevel = 1;  // for the reason see corpus/format.h

/// Creates the missing groups above `place`.
void make_groups_above(hid_t file, const Place& place) {
  for (std::size_t end = place.path.find('/', 1); end != std::string::npos; end = place.path.find('/', end + 1)) {
    const std::string step = place.path.substr(0, end);
    if (H5Lexists(file, step.c_str(), H5P_DEFAULT) > 0) continue;
    const Handle creation = without_times(H5P_GROUP_CREATE);
    const Handle group(H5Gcreate2(file, step.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), H5Gclose);
    if (!group.ok()) cannot("write", place);
  }
}

/// Turns off the chunk cache, which would only cost memory for each open dataset, because whole chunks are written.
Handle without_cache() {
  Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  H5Pset_chunk_cache(access.get(), H5D_CHUNK_CACHE_NSLOTS_DEFAULT, 0, 1.0);
  return access;
}

}  // namespace

Handle without_times(hid_t kind) {
  Handle creation(H5Pcreate(kind), H5Pclose);
  H5Pset_obj_track_times(creation.get(), false);
  return creation;
}

Handle create_dataset(hid_t file, const Place& place, hid_t type, std::vector<hsize_t> extents,
                      std::vector<hsize_t> chunk, bool grows) {
  std::vector<hsize_t> limits = extents;
  if (!chunk.empty() && (grows || std::find(extents.begin(), extents.end(), 0) != extents.end()))
    limits.assign(extents.size(), H5S_UNLIMITED);
  for (hsize_t& length : chunk) length = std::max<hsize_t>(length, 1);
  const Handle space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), limits.data()), H5Sclose);
  make_groups_above(file, place);
  const Handle creation = without_times(H5P_DATASET_CREATE);
  if (!chunk.empty()) {
    H5Pset_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data());
    if (grows) {
      H5Pset_shuffle(creation.get());
      H5Pset_deflate(creation.get(), kDeflateLevel);
    }
    H5Pset_fletcher32(creation.get());  // last, so that it covers the bytes as stored
    H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER);
  }
  const Handle access = without_cache();
  Handle dataset(H5Dcreate2(file, place.path.c_str(), type, space.get(), H5P_DEFAULT, creation.get(), access.get()),
                 H5Dclose);
  if (!dataset.ok()) cannot("write", place);  // must come before the other handles are closed: that clears the reason
  return dataset;
}

void write_scalar(hid_t file, const Place& place, const std::string& attribute, hid_t type, hid_t memory_type,
                  const void* value) {
  Handle object = find_object(file, place);
  if (!object.ok()) {
    make_groups_above(file, place);
    const Handle creation = without_times(H5P_GROUP_CREATE);
    object = Handle(H5Gcreate2(file, place.path.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), H5Gclose);
    if (!object.ok()) cannot("write", place);
  }
  if (H5Aexists(object.get(), attribute.c_str()) > 0) H5Adelete(object.get(), attribute.c_str());
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  Handle handle(H5Acreate2(object.get(), attribute.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (!handle.ok() || H5Awrite(handle.get(), memory_type, value) < 0 || !handle.close()) cannot("write", place);
}

}  // namespace rnnsearch::storage
