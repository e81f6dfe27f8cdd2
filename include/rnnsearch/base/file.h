// Files that are either whole or not there.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "rnnsearch/base/waiting_input.h"

namespace rnnsearch {

/// Throws Error with the path and the system's reason. `poll`: while a pipe is waited for.
std::string read_file(const std::filesystem::path& path, const Poll& poll = {});

/// A file that is written under another name and takes the place of `target` once it is whole: a reader, or a power
/// loss, sees the former file or this one. It replaces what a symbolic link names, not the link, and it has the mode of
/// the file that it replaces and, as far as this user may give them, its owner and group.
class AtomicFile {
 public:
  /// Makes an empty temporary in the folder of the target. Throws Error for a target that is a folder, a pipe or a
  /// device, and where no file can be made.
  explicit AtomicFile(std::filesystem::path target);
  /// Removes the temporary unless it was published.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// The temporary, to be written by that name.
  const std::filesystem::path& temporary() const { return temporary_; }
  /// Flushes the temporary to the disk, renames it and flushes the folder. Between `check` and the renaming no other
  /// process publishes a file in this folder, provided that the file system has flock(2) for folders; what `check`
  /// throws leaves the target as it is. REQUIRES: everything was written, and the temporary was closed.
  void publish(const std::function<void()>& check = {});
  /// The same under the name of the target with `suffix` behind it, which it returns; the target stays as it is.
  std::filesystem::path publish_beside(const std::string& suffix);

 private:
  void publish_as(const std::filesystem::path& path, const std::function<void()>& check);

  std::filesystem::path target_, temporary_;  // links are followed
};

/// Throws Error (a full disk included); the former file then stands as it was and no temporary is left.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// A name that no other process uses, in the folder of `path` or, if that is a symbolic link, of the file that it
/// names:
/// ".NAME.tmp-HOST-BOOT-NAMESPACE-PID", of the kernel that runs and its namespace of process ids. Throws Error for a
/// symbolic link that leads to itself.
std::filesystem::path temporary_beside(const std::filesystem::path& path);

/// Removes what processes of this kernel and namespace that do not live any more left under such names of `path`: those
/// that were killed. Of other hosts nothing is known; theirs stay. Never throws for a folder or a file that it may not
/// read or remove. Lists the folder: not for each of many files in one.
void remove_abandoned(const std::filesystem::path& path);

}  // namespace rnnsearch
