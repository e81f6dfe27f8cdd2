#include "cli/options/named_path.h"

#include <algorithm>

#include "rnnsearch/base/error.h"

namespace rnnsearch::cli {

namespace fs = std::filesystem;

NamedPath named_path(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::error_code ignored;  // a name may be longer than a file's
  if (equals != std::string::npos && equals > 0 && text.find('/') >= equals && !fs::exists(text, ignored)) {
    return {text.substr(0, equals), text.substr(equals + 1)};
  }
  const fs::path path = text.substr(0, std::max<std::size_t>(1, text.find_last_not_of('/') + 1));
  return {(fs::is_directory(path, ignored) ? path.filename() : path.stem()).string(), path};
}

void check_each_once(const std::string& option, const std::vector<fs::path>& paths) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      std::error_code ignored;
      if (paths[k] != paths[i] && !fs::equivalent(paths[k], paths[i], ignored)) continue;
      throw UsageError("--{0} {1} and --{0} {2} are the same file, which would count twice; give each file once",
                       option, paths[k], paths[i]);
    }
  }
}

}  // namespace rnnsearch::cli
