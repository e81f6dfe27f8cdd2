#include "rnnsearch/base/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/host_name.h"

namespace rnnsearch {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what, const fs::path& path) {
  throw Error(text_of(what, " ", path.string(), ": ", std::strerror(errno)));
}

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags) : descriptor_(::open(path.c_str(), flags | O_CLOEXEC)) {
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

void flush(const Descriptor& descriptor, const fs::path& path) {
  // Some file systems cannot flush a folder; then the renaming cannot be made more durable.
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL && errno != ENOTSUP) fail("cannot flush", path);
}

fs::path folder_of(const fs::path& path) {
  return path.parent_path().empty() ? fs::path(".") : path.parent_path();
}

/// Resolves symbolic links; the file itself need not exist. Other paths are returned unchanged.
fs::path without_links(const fs::path& link) {
  constexpr int kLinks = 40;  // the limit of Linux
  std::error_code reason;
  fs::path path = link;
  for (int links = 0; fs::is_symlink(fs::symlink_status(path, reason)); ++links) {
    if (links == kLinks)
      throw Error(text_of(link.string(), " is a symbolic link that leads to itself; remove it or name another file"));
    path = path.parent_path() / fs::read_symlink(path, reason);  // an absolute link replaces the folder before it
    if (reason) throw Error(text_of("cannot follow the symbolic link ", link.string(), ": ", reason.message()));
  }
  return path;
}

/// Gives a file the owner, the group and the mode of the file at `path`, if that exists. Users other than root may only
/// choose among their own groups; if that fails too, the group of the new file gets the permissions of others. On a
/// file system without such permissions the file keeps those that it was created with.
void take_rights(const Descriptor& file, const fs::path& path) {
  struct stat former {};
  struct stat own {};
  if (::stat(path.c_str(), &former) != 0 || ::fstat(file.get(), &own) != 0) return;
  ::mode_t mode = former.st_mode & 0777;
  const bool has_owner = former.st_uid == own.st_uid && former.st_gid == own.st_gid;
  if (!has_owner && ::fchown(file.get(), former.st_uid, former.st_gid) != 0 &&
      ::fchown(file.get(), static_cast<::uid_t>(-1), former.st_gid) != 0) {
    mode = (mode & 0707) | (mode & 0007) << 3;
  }
  [[maybe_unused]] const int ignored = ::fchmod(file.get(), mode);
}

/// Identifies the running kernel and its namespace of process ids, within which an id names one process. Host names are
/// not enough, because hosts may share a name, and all kernels have the same number for their first namespace. Empty if
/// the system does not provide this.
std::string processes_here() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string boot;
  struct stat ids {};
  if (!(in >> boot) || ::stat("/proc/self/ns/pid", &ids) != 0) return {};
  return text_of(boot.substr(0, boot.find('-')), "-", ids.st_ino);
}

/// The common prefix of the temporary files of `path` that processes of this host and namespace create.
std::string temporaries_of(const fs::path& path) {
  return text_of(".", path.filename().string(), ".tmp-", host_name(), "-", processes_here(), "-");
}

}  // namespace

std::string read_file(const fs::path& path, const Poll& poll) {
  std::error_code reason;
  const fs::file_status status = fs::status(path, reason);
  if (fs::is_directory(status)) throw Error(text_of("cannot read ", path.string(), ": it is a folder"));
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    WaitingStream stream(path, poll);
    std::string content;
    for (int c; (c = stream.get()) != std::istream::traits_type::eof();) {
      if (content.size() == kMaxPipedBytes) {
        throw Error(
            text_of("cannot read ", path.string(), ": more than ", kMaxPipedBytes >> 20,
                    " MiB come from it, and it may be endless; is it the right file? A regular file may be larger"));
      }
      content += static_cast<char>(c);
    }
    return content;
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail("cannot open", path);
  std::ostringstream content;
  content << stream.rdbuf();
  if (stream.bad()) fail("cannot read", path);
  return std::move(content).str();
}

fs::path temporary_beside(const fs::path& path) {
  const fs::path file = without_links(path);
  return file.parent_path() / text_of(temporaries_of(file), ::getpid());
}

void remove_abandoned(const fs::path& path) {
  if (processes_here().empty()) return;
  const fs::path file = without_links(path), folder = folder_of(file);
  const std::string begin = temporaries_of(file);
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
  for (const fs::path& temporary : abandoned) fs::remove(temporary, reason);
}

AtomicFile::AtomicFile(fs::path target) : target_(without_links(target)), temporary_(temporary_beside(target_)) {
  std::error_code reason;
  const fs::file_status there = fs::status(target_, reason);
  if (fs::is_directory(there)) throw Error(text_of("cannot write ", target.string(), ": it is a folder; name a file"));
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    throw Error(text_of(target.string(), " is a pipe or a device, which would be replaced by a file; name a file"));
  }
  fs::remove(temporary_, reason);  // an earlier process with the same id may have left it
  // If the target exists, it may be private, so other users must not be able to read the temporary file either.
  const int created =
      ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, fs::exists(there) ? 0600 : 0666);
  if (created < 0) fail("cannot write", target);
  ::close(created);
}

AtomicFile::~AtomicFile() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove(temporary_, ignored);
}

void AtomicFile::publish(const std::function<void()>& check) {
  publish_as(target_, check);
}

fs::path AtomicFile::publish_beside(const std::string& suffix) {
  fs::path path = target_.string() + suffix;
  publish_as(path, {});
  return path;
}

void AtomicFile::publish_as(const fs::path& path, const std::function<void()>& check) {
  {
    const Descriptor file(temporary_, O_RDONLY);
    take_rights(file, target_);
    flush(file, path);
  }
  const Descriptor folder(folder_of(path), O_RDONLY | O_DIRECTORY);
  if (check) {
    ::flock(folder.get(), LOCK_EX);  // without locks, only two processes at almost the same time could conflict
    check();
  }
  if (::rename(temporary_.c_str(), path.c_str()) != 0) fail("cannot rename a finished file to", path);
  temporary_.clear();
  flush(folder, folder_of(path));
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  AtomicFile file(path);
  Descriptor descriptor(file.temporary(), O_WRONLY);
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor.get(), content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      fail("cannot write", path);
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  if (descriptor.close() != 0) fail("cannot write", path);
  file.publish();
}

}  // namespace rnnsearch
