// Values of options that name a path: [NAME=]PATH.
#pragma once

#include <filesystem>
#include <string>

namespace rnnsearch::cli {

struct NamedPath {
  std::string name;
  std::filesystem::path path;
};

/// NAME=PATH, or PATH alone: then its name without folders and extension. A run directory has no extension.
NamedPath named_path(const std::string& text);

}  // namespace rnnsearch::cli
