// Changes files through HDF5: as they are, or sealed files, which are sealed again as an attacker would.
#pragma once

#include <hdf5.h>

#include <filesystem>
#include <functional>
#include <stdexcept>

#include "rnnsearch/storage/sealed_file.h"

namespace rnnsearch::support {

/// Calls act(file) with HDF5's id of the file, which is open for writing. Returns what H5Fclose returns.
inline herr_t change_file(const std::filesystem::path& path, const std::function<void(hid_t)>& act) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  H5Pset_file_locking(access, false, true);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, access);
  if (file < 0) throw std::runtime_error("HDF5 cannot open " + path.string() + " for writing");
  act(file);
  H5Pclose(access);
  return H5Fclose(file);
}

/// The same for a sealed file, which is sealed again, so that its digest is correct.
inline void change_sealed(const std::filesystem::path& path, const std::function<void(hid_t)>& act) {
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - storage::kSealBytes);
  change_file(path, act);
  storage::seal(path);
}

}  // namespace rnnsearch::support
