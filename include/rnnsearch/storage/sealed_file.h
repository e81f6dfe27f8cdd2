// Sealed files: HDF5 files that appear atomically and are verified before HDF5 parses them, because a damaged file can
// make the library loop or crash. A sealed file is an HDF5 file followed by a footer of 48 bytes. HDF5 ignores bytes
// after its own end, so h5py and h5dump can open the file.
//
//   offset from the end   bytes
//   -48                   8       magic "RNNSSEAL"
//   -40                   8       seal version, 1
//   -32                   8       length of the HDF5 file before the footer
//   -24                   16      XXH3-128 of the HDF5 file, canonical (big-endian)
//   -8                    8       XXH3-64 of the preceding 40 bytes, to tell a damaged footer from a missing one
// Integers are little-endian.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/storage/hdf5.h"

struct XXH3_state_s;

namespace rnnsearch::storage {

inline constexpr std::size_t kSealBytes = 48;

/// What verify_seal throws for a file that was read and is empty, truncated, damaged or of another kind. A file that
/// cannot be opened or read may be readable later.
class DamagedFile : public Error {
 public:
  using Error::Error;
};

/// Appends the footer to a finished HDF5 file.
void seal(const std::filesystem::path& path);

/// kDigest reads the whole file once, in bounded memory; kFooter checks only the file type, the size and the footer.
enum class SealCheck { kDigest, kFooter };

/// Throws Error for a file that is missing or a folder, DamagedFile for one that is empty, not an HDF5 file, truncated
/// or damaged. The message begins with `what`, such as "corpus" or "checkpoint".
void verify_seal(const std::filesystem::path& path, const std::string& what, SealCheck check = SealCheck::kDigest,
                 const Poll& poll = {});

/// Calls verify_seal, then File::open.
File open_sealed(const std::filesystem::path& path, const std::string& what, SealCheck check = SealCheck::kDigest,
                 const Poll& poll = {});

/// The digest in the footer, 32 hexadecimal digits. Two files with the same digest have the same content. Reads only
/// the footer, and throws Error as verify_seal does.
std::string sealed_digest(const std::filesystem::path& path, const std::string& what);

/// Writes a sealed file atomically: an existing file at `target` stays unchanged until publish().
class SealedWriter {
 public:
  /// Creates a temporary file in the folder of the target; it is removed unless it is published.
  explicit SealedWriter(const std::filesystem::path& target);

  File& file() { return file_; }
  /// Closes the file, seals it, flushes it to the disk, reads it back and compares it with the digest, calls `check`,
  /// and renames it (AtomicFile::publish). Throws Error for a full disk, as may every write before.
  void publish(const std::function<void()>& check = {});

 private:
  std::string name_;  // name of the target
  AtomicFile target_;
  File file_;
};

/// The version of the layouts of all files (corpus/format.h, src/train/checkpoint.cpp). No other version is read.
inline constexpr std::int64_t kFormatVersion = 5;

/// Writes the attributes of "/" that identify the format: format, format_version, created_by.
void write_format(File& file, const std::string& format);
/// Returns the attribute `format`. Throws Error for a file of another version.
std::string format_of(const File& file);
/// Throws Error for a file of another format or another version.
void check_format(const File& file, const std::string& format);

// XXH3-128 digests. They detect damage, but not tampering by an attacker.

/// Two lower-case hexadecimal digits for each byte.
std::string hex(std::span<const unsigned char> bytes);

class Digest {
 public:
  Digest();

  Digest& add(std::span<const std::byte> bytes);
  Digest& add(std::string_view text) { return add(std::as_bytes(std::span(text))); }
  /// The digest of all bytes so far, big-endian. It does not depend on the division into calls.
  std::array<unsigned char, 16> bytes() const;
  std::string hex() const { return storage::hex(bytes()); }

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

/// The digest of a short text as two numbers, for tables.
struct ShortDigest {
  std::uint64_t high = 0, low = 0;
  friend auto operator<=>(const ShortDigest&, const ShortDigest&) = default;
};
ShortDigest short_digest(std::string_view bytes);

}  // namespace rnnsearch::storage
