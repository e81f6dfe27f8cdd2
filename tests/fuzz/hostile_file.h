// A good HDF5 file of ours, changed as a fuzzer's input says and sealed again: XXH3 keeps damage out, not malice, so
// what stands behind the seal may be anything that HDF5 can hold.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.h"

namespace rnnsearch::fuzz {

class HostileFile {
 public:
  /// A sealed file; only read.
  explicit HostileFile(const std::filesystem::path& good);

  enum class Kind { kGood, kChanged, kBrokenSeal };
  /// Takes from the input: how many changes through the HDF5 API (attributes and elements to other values, datasets to
  /// other shapes, types, layouts and filters, links removed, moved, made loops), then
  /// how many bytes of the payload, and of the sealed file, get other values. An empty input changes nothing.
  /// kBrokenSeal: bytes differ from what was sealed.
  Kind write(const std::filesystem::path& path, Input& input) const;

 private:
  struct Object {
    std::string path;
    bool is_group;
    std::vector<std::string> attributes;
  };
  void change(std::int64_t file, Input& input) const;

  std::string payload_;
  std::vector<Object> objects_;
};

}  // namespace rnnsearch::fuzz
