// Reads whole files, and replaces files atomically.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "rnnsearch/base/waiting_input.h"

namespace rnnsearch {

/// The most that read_file takes from a pipe or a device, because a device such as /dev/zero has no end.
inline constexpr std::size_t kMaxPipedBytes = std::size_t{64} << 20;

/// A file that open(2) opened, and that is closed with the object.
class Descriptor {
 public:
  /// Throws Error with the path and the system's reason.
  Descriptor(const std::filesystem::path& path, int flags);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  /// The result of close(2).
  int close();

 private:
  int number_;
};

/// Returns the content of a file. Throws Error with the path and the system's reason, and for a pipe or a device with
/// more than kMaxPipedBytes. `poll` is called while waiting for a pipe.
std::string read_file(const std::filesystem::path& path, const Poll& poll = {});

/// Replaces a file atomically: the content is written to a temporary file, which is renamed to `target` when it is
/// complete. Readers, also after a power loss, see either the previous file or the new one. If the target is a symbolic
/// link, the file that it names is replaced. The new file gets the mode of the previous one and, as far as the user has
/// the permission, its owner and group.
class AtomicFile {
 public:
  /// Creates an empty temporary file in the folder of the target. Throws Error if the target is a folder, a pipe or a
  /// device, or if no file can be created.
  explicit AtomicFile(std::filesystem::path target);
  /// Removes the temporary file unless it was published.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// The path of the temporary file, to which the caller writes.
  const std::filesystem::path& temporary() const { return temporary_; }
  /// Flushes the temporary file to the disk, renames it and flushes the folder. `check` is called before the renaming;
  /// if it throws, the target stays unchanged. Between the two, no other process that publishes with a check publishes
  /// a file in this folder, provided that the file system supports flock(2) for folders. REQUIRES: everything was
  /// written, and the temporary file was closed.
  void publish(const std::function<void()>& check = {});

 private:
  std::filesystem::path target_, temporary_;  // with symbolic links resolved
};

/// The file that would be replaced at this path: symbolic links are resolved. Throws Error if it is a folder, a pipe or
/// a device.
std::filesystem::path file_to_replace(const std::filesystem::path& target);
/// Gives a finished file the mode of the one at `target`, flushes it to the disk, calls `check`, renames it to `target`
/// and flushes the folder, as AtomicFile::publish does. `target` is a file_to_replace in the same folder.
void replace_file(const std::filesystem::path& finished, const std::filesystem::path& target,
                  const std::function<void()>& check = {});

/// Writes all of `content` to a descriptor. Returns false, with errno set, if that fails.
bool write_all(int descriptor, std::string_view content);
/// Writes a file with AtomicFile. Throws Error, for example for a full disk; the previous file then stays unchanged,
/// and no temporary file is left.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// The path that a symbolic link leads to, through further links; the file itself need not exist. Other paths are
/// returned unchanged. Throws Error for a symbolic link that leads to itself.
std::filesystem::path without_links(const std::filesystem::path& link);

/// A file name that no other process uses, in the folder of `path` (of the file that it names, if it is a symbolic
/// link): ".NAME.tmp-HOST-BOOT-NAMESPACE-PID", where BOOT identifies the running kernel and NAMESPACE its namespace of
/// process ids. Throws Error for a symbolic link that leads to itself.
std::filesystem::path temporary_beside(const std::filesystem::path& path);

/// Removes temporary files of `path` that killed processes left behind. Files of other hosts and namespaces stay,
/// because nothing is known about their processes. Does not throw for a folder or a file that it cannot read or remove.
/// It lists the whole folder, so do not call it for each of many files in a folder.
void remove_abandoned(const std::filesystem::path& path);

}  // namespace rnnsearch
