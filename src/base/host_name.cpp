#include "rnnsearch/base/host_name.h"

#include <unistd.h>

#include <array>
#include <fstream>

namespace rnnsearch {

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string boot_id() {
  std::ifstream stream("/proc/sys/kernel/random/boot_id");
  std::string id;
  stream >> id;
  return id;
}

}  // namespace rnnsearch
