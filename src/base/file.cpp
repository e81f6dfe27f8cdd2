#include "rnnsearch/base/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "rnnsearch/base/error.h"

namespace rnnsearch {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what, const fs::path& path) {
  throw Error(text_of(what, " ", path.string(), ": ", std::strerror(errno)));
}

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags) : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail("cannot open", path);
  }
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return descriptor_; }
  int close() {
    const int result = ::close(descriptor_);
    descriptor_ = -1;
    return result;
  }

 private:
  int descriptor_;
};

void flush(const fs::path& path, int flags) {
  const Descriptor descriptor(path, flags);
  // Some file systems cannot flush a folder; the rename is then as durable as they can make it.
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL && errno != ENOTSUP) fail("cannot flush", path);
}

}  // namespace

std::string read_file(const fs::path& path) {
  std::error_code reason;
  if (fs::is_directory(path, reason)) throw Error(text_of("cannot read ", path.string(), ": it is a folder"));
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail("cannot open", path);
  std::ostringstream content;
  content << stream.rdbuf();
  if (stream.bad()) fail("cannot read", path);
  return std::move(content).str();
}

fs::path temporary_beside(const fs::path& path) {
  std::error_code reason;
  const fs::file_status there = fs::status(path, reason);
  if (fs::exists(there) && !fs::is_regular_file(there) && !fs::is_directory(there)) {
    throw Error(text_of(path.string(), " is a pipe or a device, which a file would replace; name a file"));
  }
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return path.parent_path() / text_of(".", path.filename().string(), ".tmp-", host.data(), "-", ::getpid());
}

void publish_file(const fs::path& temporary, const fs::path& target) {
  flush(temporary, O_RDONLY);
  if (::rename(temporary.c_str(), target.c_str()) != 0) fail("cannot rename a finished file to", target);
  const fs::path folder = target.parent_path().empty() ? fs::path(".") : target.parent_path();
  flush(folder, O_RDONLY | O_DIRECTORY);
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  const fs::path temporary = temporary_beside(path);
  try {
    Descriptor descriptor(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor.get(), content.data(), content.size());
      if (written < 0) {
        if (errno == EINTR) continue;
        fail("cannot write", path);
      }
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    if (descriptor.close() != 0) fail("cannot write", path);
    publish_file(temporary, path);
  } catch (...) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw;
  }
}

}  // namespace rnnsearch
