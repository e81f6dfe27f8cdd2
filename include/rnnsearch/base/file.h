// Files that are either whole or not there.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace rnnsearch {

/// Throws Error with the path and the system's reason.
std::string read_file(const std::filesystem::path& path);

/// Writes beside `path`, fsync, rename, fsync of the folder: a reader, or a power loss, sees the former file or this
/// one. Throws Error (a full disk included); the former file then stands as it was and no temporary is left.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Flushes a finished file's data to the disk, renames it over `target` (same folder) and flushes the folder.
void publish_file(const std::filesystem::path& temporary, const std::filesystem::path& target);

/// A name in `path`'s folder that no other process uses: ".NAME.tmp-HOST-BOOT-NAMESPACE-PID", of the kernel that runs
/// and its namespace of process ids.
std::filesystem::path temporary_beside(const std::filesystem::path& path);

/// Removes what processes of this kernel and namespace that do not live any more left under such names of `path`: those
/// that were killed. Of other hosts nothing is known; theirs stay. Never throws for a folder or a file that it may not
/// read or remove.
void remove_abandoned(const std::filesystem::path& path);

}  // namespace rnnsearch
