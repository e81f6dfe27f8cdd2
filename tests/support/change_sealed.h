// Changes a sealed file through HDF5 and seals it again, as an attacker would, so that its digest is correct.
#pragma once

#include <hdf5.h>

#include <filesystem>
#include <functional>

#include "rnnsearch/storage/sealed_file.h"

namespace rnnsearch::support {

/// Calls act(file) with HDF5's id of the file, which is open for writing.
inline void change_sealed(const std::filesystem::path& path, const std::function<void(hid_t)>& act) {
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - storage::kSealBytes);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  H5Pset_file_locking(access, false, true);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, access);
  act(file);
  H5Fclose(file);
  H5Pclose(access);
  storage::seal(path);
}

}  // namespace rnnsearch::support
