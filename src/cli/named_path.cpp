#include "cli/named_path.h"

namespace rnnsearch::cli {

namespace fs = std::filesystem;

NamedPath named_path(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::error_code ignored;  // a name may be longer than a file's
  if (equals != std::string::npos && equals > 0 && text.find('/') >= equals && !fs::exists(text, ignored)) {
    return {text.substr(0, equals), text.substr(equals + 1)};
  }
  const fs::path path = text.ends_with('/') ? text.substr(0, text.size() - 1) : text;
  return {(fs::is_directory(path, ignored) ? path.filename() : path.stem()).string(), path};
}

}  // namespace rnnsearch::cli
