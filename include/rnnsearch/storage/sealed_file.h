// HDF5 files that are published whole and verified before HDF5 parses them: a damaged file can make the library spin or
// crash. A sealed file is an HDF5 file followed by a footer of 48 bytes; HDF5 does not mind bytes after its own end, so
// h5py and h5dump open it as it is.
//
//   offset from the end   bytes
//   -48                   8       magic "RNNSSEAL"
//   -40                   8       seal version, 1
//   -32                   8       length of the HDF5 file before the footer
//   -24                   16      XXH3-128 of those bytes, canonical (big-endian)
//   -8                    8       XXH3-64 of the 40 bytes before, so that a damaged footer is told from a foreign one
// Integers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "rnnsearch/base/file.h"
#include "rnnsearch/storage/hdf5.h"

namespace rnnsearch::storage {

inline constexpr std::size_t kSealBytes = 48;

/// Appends the footer to a finished HDF5 file.
void seal(const std::filesystem::path& path);

/// kDigest reads the whole file once, in bounded memory; kFooter checks kind, size and footer only.
enum class SealCheck { kDigest, kFooter };

/// Called at least once a megabyte while a file is read whole; what it throws ends the reading.
using Poll = std::function<void()>;

/// Throws Error, in one sentence beginning with `what` ("corpus", "checkpoint"), for a file that is missing, a folder,
/// empty, of another kind, truncated or damaged.
void verify_seal(const std::filesystem::path& path, const std::string& what, SealCheck check = SealCheck::kDigest,
                 const Poll& poll = {});

/// verify_seal, then File::open.
File open_sealed(const std::filesystem::path& path, const std::string& what, SealCheck check = SealCheck::kDigest,
                 const Poll& poll = {});

/// The digest that the footer says, 32 hexadecimal digits: two files have the same content if they have the same.
/// Reads the footer alone, and throws Error as verify_seal does.
std::string sealed_digest(const std::filesystem::path& path, const std::string& what);

/// Writes a file that others see whole or not at all; a file that stands at `target` remains untouched until publish().
class SealedWriter {
 public:
  /// Begins a temporary in the target's folder, which is removed unless it is published.
  explicit SealedWriter(const std::filesystem::path& target);

  File& file() { return file_; }
  /// Closes, seals, flushes to the disk, reads back and compares with the digest, calls `check`, renames
  /// (AtomicFile::publish). Throws Error for a full disk, as may every write before.
  void publish(const std::function<void()>& check = {});

 private:
  std::string name_;  // of the target
  AtomicFile target_;
  File file_;
};

/// Attributes of "/" that say what a file is: format, format_version, created_by.
void write_format(File& file, const std::string& format, std::int64_t version);
/// Throws Error for a file of another format or of a version after `version`.
void check_format(const File& file, const std::string& format, std::int64_t version);

}  // namespace rnnsearch::storage
