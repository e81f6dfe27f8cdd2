#include "rnnsearch/base/sentence_of.h"

#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>

#include "rnnsearch/base/error.h"

namespace rnnsearch {

std::string sentence_of(const std::exception& exception) {
  const std::string text = exception.what();
  if (dynamic_cast<const std::bad_alloc*>(&exception)) return kNoMemory;
  if (const auto* of_file = dynamic_cast<const std::filesystem::filesystem_error*>(&exception)) {
    const std::string reason = of_file->code().message();
    constexpr std::string_view kBefore = "filesystem error: ";  // libstdc++: then the operation, reason and paths
    const std::string operation = text.starts_with(kBefore) ? text.substr(kBefore.size()) : text;
    return text_of("cannot access ", of_file->path1().string(), of_file->path2().empty() ? "" : " or ",
                   of_file->path2().string(), ": ", reason, " (", operation.substr(0, operation.find(": " + reason)),
                   ")");
  }
  const auto* of_system = dynamic_cast<const std::system_error*>(&exception);
  if ((of_system && of_system->code() == std::errc::resource_unavailable_try_again) ||
      text.find("pthread_create") != text.npos) {
    return text_of("cannot start a thread: ", text,
                   "; the user has as many processes and threads as the system allows: raise that limit (ulimit -u, or "
                   "the pids limit of a container), or give fewer --threads");
  }
  return text;
}

}  // namespace rnnsearch
