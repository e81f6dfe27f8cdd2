#include "rnnsearch/base/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <vector>

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

/// Where ids of processes mean the same: the kernel that runs, and the namespace in it. Hosts may share a name, and all
/// kernels number their first namespace alike. Empty where the system does not say.
std::string processes_here() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string boot;
  struct stat ids {};
  if (!(in >> boot) || ::stat("/proc/self/ns/pid", &ids) != 0) return {};
  return text_of(boot.substr(0, boot.find('-')), "-", ids.st_ino);
}

/// What all names of temporaries of `path` begin with that processes make which this one can ask for.
std::string temporaries_of(const fs::path& path) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return text_of(".", path.filename().string(), ".tmp-", host.data(), "-", processes_here(), "-");
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
  return path.parent_path() / text_of(temporaries_of(path), ::getpid());
}

void remove_abandoned(const fs::path& path) {
  if (processes_here().empty()) return;
  const fs::path folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  const std::string begin = temporaries_of(path);
  std::error_code reason;
  std::vector<fs::path> abandoned;
  for (fs::directory_iterator entry(folder, reason), end; !reason && entry != end; entry.increment(reason)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(begin)) continue;
    pid_t process = 0;
    const char* const last = name.data() + name.size();
    const auto read = std::from_chars(name.data() + begin.size(), last, process);
    if (read.ec != std::errc() || read.ptr != last || process <= 0) continue;
    if (::kill(process, 0) != 0 && errno == ESRCH) abandoned.push_back(entry->path());
  }
  for (const fs::path& file : abandoned) fs::remove(file, reason);
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
