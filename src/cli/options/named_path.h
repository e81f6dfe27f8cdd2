// Values of options that name a path: [NAME=]PATH.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rnnsearch/base/option.h"

namespace rnnsearch::cli {

struct NamedPath {
  std::string name;
  std::filesystem::path path;
};

/// NAME=PATH, or PATH alone: then its name without folders and extension. A run directory has no extension.
NamedPath named_path(const std::string& text);

inline std::vector<std::filesystem::path> path_without_name(const std::string& text) {
  return {named_path(text).path};
}
inline constexpr Path kNamedFile{.kind = Path::kInputFile, .in = path_without_name},
    kNamedRun{.kind = Path::kInputRun, .in = path_without_name};
/// Throws UsageError if two values of an option are the same file, through links too.
void check_each_once(const std::string& option, const std::vector<std::filesystem::path>& paths);

}  // namespace rnnsearch::cli
