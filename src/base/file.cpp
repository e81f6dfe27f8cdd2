#include "rnnsearch/base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <ostream>
#include <thread>
#include <utility>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/machine.h"

namespace rnnsearch {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what, const fs::path& path) {
  throw Error("{} {}: {}", what, path, std::strerror(errno));
}

void flush(const Descriptor& descriptor, const fs::path& path) {
  // Some file systems cannot flush a folder; then the renaming cannot be made more durable.
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL && errno != ENOTSUP) fail("cannot flush", path);
}

fs::path folder_of(const fs::path& path) { return path.parent_path().empty() ? fs::path(".") : path.parent_path(); }

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
  const std::string boot = boot_id();
  struct stat ids {};
  if (boot.empty() || ::stat("/proc/self/ns/pid", &ids) != 0) return {};
  return fmt::format("{}-{}", boot.substr(0, boot.find('-')), ids.st_ino);
}

std::atomic<std::uint64_t> temporary_names = 0;  // given by this process; several of its threads may need one at once

/// The common prefix of the temporary files of `path` that processes of this host and namespace create.
std::string temporaries_of(const fs::path& path) {
  return fmt::format(".{}.tmp-{}-{}-", path.filename(), host_name(), processes_here());
}

/// Says why no file can be created, and what to do.
[[noreturn]] void fail_to_create(const fs::path& target, const fs::path& file) {
  const int reason = errno;
  const fs::path folder = folder_of(file);
  const std::string link = file == target ? "" : fmt::format(", a link to {}", file);
  std::error_code ignored;
  const fs::file_status there = fs::status(folder, ignored);
  if (reason == ENOENT && !fs::exists(there)) {
    throw Error(
        "cannot write {}{}: there is no folder {}; make it first, with mkdir -p, or name a file in another folder",
        target, link, folder);
  }
  if (reason == ENOTDIR)
    throw Error("cannot write {}{}: {} is not a folder; name a file in a folder", target, link, folder);
  const bool forbidden = reason == EACCES || reason == EPERM || reason == EROFS;
  throw Error("cannot write {}{}: no file can be made in {} ({}); {}", target, link, folder, std::strerror(reason),
              forbidden ? "name a folder in which you may write" : "name another file");
}

// A signal that arrives between poll_() and ::poll() is not noticed until ::poll() returns, so its timeout is short.
constexpr int kMilliseconds = 200;

int open_without_waiting(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) throw Error("cannot read {}: {}", path, std::strerror(errno));
  return descriptor;
}

}  // namespace

WaitingInput::WaitingInput(int descriptor, std::string name, Poll poll)
    : descriptor_(descriptor), name_(std::move(name)), poll_(std::move(poll)) {}
WaitingInput::WaitingInput(const std::filesystem::path& path, Poll poll)
    : descriptor_(open_without_waiting(path)), owned_(descriptor_), name_(path.string()), poll_(std::move(poll)) {}
WaitingInput::~WaitingInput() {
  if (owned_ >= 0) ::close(owned_);
}

std::string_view WaitingInput::take() {
  for (;;) {
    if (poll_) poll_();
    pollfd wanted{descriptor_, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, kMilliseconds);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t count = ::read(descriptor_, buffer_.data(), buffer_.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) throw Error("cannot read {}: {}", name_, std::strerror(errno));
    return {buffer_.data(), static_cast<std::size_t>(count)};
  }
}

bool WaitingInput::ready() const {
  pollfd wanted{descriptor_, POLLIN, 0};
  return ::poll(&wanted, 1, 0) > 0;
}

Descriptor::Descriptor(const fs::path& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC)) {
  if (number_ < 0) fail("cannot open", path);
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

int Descriptor::close() { return ::close(std::exchange(number_, -1)); }

bool lock_if_possible(int descriptor, int operation) {
  for (int tries = 0; ::flock(descriptor, operation | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++tries) {
    if (tries == 1000) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

std::string read_file(const fs::path& path, const Poll& poll) {
  std::error_code reason;
  const fs::file_status status = fs::status(path, reason);
  if (fs::is_directory(status)) throw Error("cannot read {}: it is a folder", path);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    WaitingInput input(path, poll);
    std::string content;
    for (std::string_view bytes; !(bytes = input.take()).empty(); content += bytes) {
      if (content.size() + bytes.size() > kMaxPipedBytes) {
        throw Error(
            "cannot read {}: more than {} MiB come from it, and it may be endless; is it the right file? A regular "
            "file may be larger",
            path, kMaxPipedBytes >> 20);
      }
    }
    return content;
  }
  const Descriptor file(path, O_RDONLY);
  std::string content;
  std::vector<char> part(1 << 16);
  for (;;) {
    const ssize_t count = ::read(file.get(), part.data(), part.size());
    if (count == 0) return content;
    if (count > 0) content.append(part.data(), static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) fail("cannot read", path);
  }
}

fs::path without_links(const fs::path& link) {
  constexpr int kLinks = 40;  // the limit of Linux
  std::error_code reason;
  fs::path path = link;
  for (int links = 0; fs::is_symlink(fs::symlink_status(path, reason)); ++links) {
    if (links == kLinks)
      throw Error("{} is a symbolic link that leads to itself; remove it or name another file", link);
    path = path.parent_path() / fs::read_symlink(path, reason);  // an absolute link replaces the folder before it
    if (reason) throw Error("cannot follow the symbolic link {}: {}", link, reason.message());
  }
  return path;
}

fs::path temporary_beside(const fs::path& path) {
  const fs::path file = without_links(path);
  return file.parent_path() / fmt::format("{}{}.{}", temporaries_of(file), ::getpid(), temporary_names++);
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
    auto read = std::from_chars(name.data() + begin.size(), last, process);
    if (read.ec != std::errc() || read.ptr == last || *read.ptr != '.' || process <= 0) continue;
    std::uint64_t call = 0;
    read = std::from_chars(read.ptr + 1, last, call);
    if (read.ec != std::errc() || read.ptr != last) continue;
    const bool of_earlier_process = process == ::getpid() && call >= temporary_names;  // which had the same id
    // A process that is killed loses its program, then its locks, and last, when its parent asks, its number.
    std::error_code exe;
    if (::kill(process, 0) == 0) {
      [[maybe_unused]] const fs::path program = fs::read_symlink(fmt::format("/proc/{}/exe", process), exe);
    } else if (errno == ESRCH) {
      exe = std::make_error_code(std::errc::no_such_file_or_directory);
    }
    if (of_earlier_process || exe == std::errc::no_such_file_or_directory) abandoned.push_back(entry->path());
  }
  for (const fs::path& temporary : abandoned) fs::remove(temporary, reason);
}

fs::path file_to_replace(const fs::path& target) {
  fs::path file = without_links(target);
  std::error_code reason;
  const fs::file_status there = fs::status(file, reason);
  if (fs::is_directory(there)) throw Error("cannot write {}: it is a folder; name a file", target);
  if (fs::exists(there) && !fs::is_regular_file(there))
    throw Error("{} is a pipe or a device, which would be replaced by a file; name a file", target);
  return file;
}

AtomicFile::AtomicFile(fs::path target) : target_(file_to_replace(target)), temporary_(temporary_beside(target_)) {
  std::error_code reason;
  fs::remove(temporary_, reason);  // an earlier process with the same id may have left it
  // If the target exists, it may be private, so other users must not be able to read the temporary file either.
  const int created =
      ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, fs::exists(target_, reason) ? 0600 : 0666);
  if (created < 0) fail_to_create(target, target_);
  ::close(created);
}

AtomicFile::~AtomicFile() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove(temporary_, ignored);
}

void AtomicFile::publish(const std::function<void()>& check) {
  replace_file(temporary_, target_, check);
  temporary_.clear();
}

void replace_file(const fs::path& finished, const fs::path& path, const std::function<void()>& check) {
  {
    const Descriptor file(finished, O_RDONLY);
    take_rights(file, path);
    flush(file, path);
  }
  const Descriptor folder(folder_of(path), O_RDONLY | O_DIRECTORY);
  if (check) {
    lock_if_possible(folder.get(),
                     LOCK_EX);  // without locks, only two processes at almost the same time could conflict
    check();
  }
  if (::rename(finished.c_str(), path.c_str()) != 0) fail("cannot rename a finished file to", path);
  flush(folder, folder_of(path));
}

bool write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  AtomicFile file(path);
  Descriptor descriptor(file.temporary(), O_WRONLY);
  if (!write_all(descriptor.get(), content) || descriptor.close() != 0) fail("cannot write", path);
  file.publish();
}

OutputFile::OutputFile(const std::string& option, fs::path path, std::ostream& standard_output)
    : standard_output_(standard_output), path_(std::move(path)) {
  if (path_.empty() || path_ == "-") return;
  std::error_code ignored;  // AtomicFile says what is wrong with a path
  if (fs::is_directory(path_, ignored)) throw Error("{} {} is a folder; name a file", option, path_);
  remove_abandoned(path_);
  target_.emplace(path_);
  file_.open(target_->temporary(), std::ios::binary);
  if (!file_) throw Error("cannot write {}, which becomes {}", target_->temporary(), path_);
}

void OutputFile::check() {
  if (stream()) return;
  throw Error(target_ ? fmt::format("cannot write {}: is the disk full?", path_)
                      : "cannot write the results to standard output: is the disk full, or has its reader exited?");
}

void OutputFile::publish() {
  if (!target_) return;
  file_.close();
  check();
  target_->publish();
}

std::ostream& OutputFile::stream() {
  if (!target_) return standard_output_;
  return file_;
}

}  // namespace rnnsearch
