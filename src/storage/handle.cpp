#include "storage/handle.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace rnnsearch::storage {

std::string reason() {
  std::vector<std::string> complaints;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_DOWNWARD,
      [](unsigned, const H5E_error2_t* entry, void* list) -> herr_t {
        if (entry->desc) static_cast<std::vector<std::string>*>(list)->emplace_back(entry->desc);
        return 0;
      },
      &complaints);
  H5Eclear2(H5E_DEFAULT);
  if (complaints.empty()) return "HDF5 gave no reason";
  std::string text = "HDF5: " + complaints.front();
  if (complaints.size() > 1) text += " (" + complaints.back() + ")";
  for (const std::string& complaint : complaints) {
    const auto at = complaint.find("errno = ");
    if (at == std::string::npos) continue;
    const int number = std::atoi(complaint.c_str() + at + std::strlen("errno = "));
    text = std::strerror(number);
    if (number == ENOSPC || number == EDQUOT) text += "; free some space there or choose another folder";
    if (complaint.find("lock") != std::string::npos)
      text = "it cannot be locked (" + text +
             "); if another process holds it, wait; if the file system has no locks, set "
             "HDF5_USE_FILE_LOCKING=FALSE";
  }
  return text;
}

}  // namespace rnnsearch::storage
