#include "rnnsearch/storage/sealed_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/version.h"

namespace rnnsearch::storage {
namespace {

namespace fs = std::filesystem;
static_assert(std::endian::native == std::endian::little, "the integers of the seal are copied without conversion");

constexpr char kMagic[9] = "RNNSSEAL";
constexpr std::uint64_t kSealVersion = 1;
constexpr unsigned char kSignature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};  // start of every HDF5 file
constexpr std::size_t kBufferBytes = 1 << 20;

using DigestBytes = std::array<unsigned char, 16>;

struct Footer {
  char magic[8];
  std::uint64_t version;
  std::uint64_t payload_bytes;
  DigestBytes digest;
  std::uint64_t check;

  std::uint64_t expected_check() const { return XXH3_64bits(this, offsetof(Footer, check)); }
};
static_assert(sizeof(Footer) == kSealBytes);

/// Returns false at the end of the file (errno is 0) or for an error (errno is its number).
bool read_exactly(int descriptor, void* memory, std::size_t bytes, std::uint64_t offset) {
  auto* to = static_cast<char*>(memory);
  while (bytes > 0) {
    errno = 0;
    const ssize_t count = ::pread(descriptor, to, bytes, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    to += count;
    offset += static_cast<std::uint64_t>(count);
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

/// Returns false like read_exactly.
bool digest_of(int descriptor, std::uint64_t bytes, DigestBytes& digest, const Poll& poll = {}) {
  Digest state;
  std::vector<char> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kBufferBytes)));
  for (std::uint64_t offset = 0; offset < bytes; offset += buffer.size()) {
    if (poll) poll();
    const std::size_t part = static_cast<std::size_t>(std::min<std::uint64_t>(bytes - offset, buffer.size()));
    if (!read_exactly(descriptor, buffer.data(), part, offset)) return false;
    state.add(std::string_view(buffer.data(), part));
  }
  digest = state.bytes();
  return true;
}

std::string system_reason() { return errno == 0 ? "it is shorter than expected" : std::strerror(errno); }

/// name: the name of the file in errors; `path` may be a temporary file.
void seal_as(const fs::path& path, const std::string& name) {
  const Descriptor file(path, O_RDWR | O_APPEND);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw Error("cannot seal {}: {}", name, std::strerror(errno));
  Footer footer{};
  std::memcpy(footer.magic, kMagic, sizeof footer.magic);
  footer.version = kSealVersion;
  footer.payload_bytes = static_cast<std::uint64_t>(status.st_size);
  if (!digest_of(file.get(), footer.payload_bytes, footer.digest))
    throw Error("cannot read back {}: {}", name, system_reason());
  footer.check = footer.expected_check();
  errno = ENOSPC;  // a short write means that the disk is full, but does not set errno
  if (::write(file.get(), &footer, sizeof footer) != ssize_t{sizeof footer} || ::fsync(file.get()) != 0)
    throw Error("cannot write {}: {}; free some space there or choose another folder", name, std::strerror(errno));
  // Drop the cached pages, so that verify_seal reads the file from the disk.
  ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
}

/// Returns the digest in the footer.
DigestBytes verify_seal_as(const fs::path& path, const std::string& name, SealCheck check, const Poll& poll = {}) {
  const Descriptor file(path, O_RDONLY | O_NONBLOCK);  // does not wait for a named pipe, which is rejected below
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw Error("cannot open {}: {}", name, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) throw Error("cannot read {}: it is a folder, but a file was expected", name);
  if (!S_ISREG(status.st_mode)) throw Error("cannot read {}: it is not a regular file", name);
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes == 0) throw DamagedFile("cannot read {}: it is empty", name);

  unsigned char signature[8] = {};
  if (!read_exactly(file.get(), signature, static_cast<std::size_t>(std::min<std::uint64_t>(bytes, 8)), 0))
    throw Error("cannot read {}: {}", name, system_reason());
  if (std::memcmp(signature, kSignature, static_cast<std::size_t>(std::min<std::uint64_t>(bytes, 8))) != 0)
    throw DamagedFile("cannot read {}: it is a file of another kind (no HDF5 signature)", name);
  const std::string truncated = fmt::format("cannot read {}: it is truncated, or was not written by rnnsearch (", name);
  const char* remedy = "); make it again or use another copy";
  if (bytes < 8 + kSealBytes) throw DamagedFile("{}only {} bytes{}", truncated, bytes, remedy);

  Footer footer{};
  if (!read_exactly(file.get(), &footer, sizeof footer, bytes - kSealBytes))
    throw Error("cannot read {}: {}", name, system_reason());
  const bool has_magic = std::memcmp(footer.magic, kMagic, sizeof footer.magic) == 0;
  if (!has_magic && footer.check != footer.expected_check())
    throw DamagedFile("{}no seal at the end of its {} bytes{}", truncated, bytes, remedy);
  const std::string damaged = fmt::format("cannot read {}: it is damaged (", name);
  if (!has_magic || footer.check != footer.expected_check())
    throw DamagedFile("{}its seal is inconsistent{}", damaged, remedy);
  if (footer.version > kSealVersion)
    throw Error(
        "cannot read {}: its seal has version {}, but this program knows only version {}; use a newer rnnsearch", name,
        footer.version, kSealVersion);
  if (footer.payload_bytes != bytes - kSealBytes)
    throw DamagedFile("{}it holds {} bytes where its seal says {}{}", damaged, bytes - kSealBytes, footer.payload_bytes,
                      remedy);
  if (check == SealCheck::kFooter) return footer.digest;

  DigestBytes digest;
  if (!digest_of(file.get(), footer.payload_bytes, digest, poll))
    throw Error("cannot read {}: {}", name, system_reason());
  if (digest != footer.digest)
    throw DamagedFile("{}its content does not match the digest in its seal{}", damaged, remedy);
  return digest;
}

/// Runs `act` and puts `what` in front of its errors.
template <class Act>
auto naming(const std::string& what, Act&& act) {
  try {
    return act();
  } catch (const DamagedFile& error) {
    throw DamagedFile("{}: {}", what, error.what());
  } catch (const Error& error) {
    throw Error("{}: {}", what, error.what());
  }
}

}  // namespace

void seal(const fs::path& path) { seal_as(path, path.string()); }

void verify_seal(const fs::path& path, const std::string& what, SealCheck check, const Poll& poll) {
  naming(what, [&] { return verify_seal_as(path, path.string(), check, poll); });
}

File open_sealed(const fs::path& path, const std::string& what, SealCheck check, const Poll& poll) {
  verify_seal(path, what, check, poll);
  return File::open(path);
}

std::string sealed_digest(const fs::path& path, const std::string& what) {
  return hex(naming(what, [&] { return verify_seal_as(path, path.string(), SealCheck::kFooter); }));
}

SealedWriter::SealedWriter(const fs::path& target)
    : name_(target.string()), target_(target), file_(File::create(target_.temporary(), target)) {
  remove_abandoned(target);
}

void SealedWriter::publish(const std::function<void()>& check) {
  file_.close();
  seal_as(target_.temporary(), name_);
  verify_seal_as(target_.temporary(), name_, SealCheck::kDigest);
  target_.publish(check);
}

void write_format(File& file, const std::string& format) {
  file.write_attribute("/", "format", format);
  file.write_attribute("/", "format_version", kFormatVersion);
  file.write_attribute("/", "created_by", kCreatedBy);
}

std::string format_of(const File& file) {
  if (!file.has_attribute("/", "format_version")) return "unknown";
  const std::int64_t version = file.attribute<std::int64_t>("/", "format_version");
  if (version != kFormatVersion)
    throw Error(
        "cannot read {}: it has format version {}, but this program reads only version {}; make a corpus again with "
        "rnnsearch prepare and a checkpoint with rnnsearch train, or use the version of rnnsearch that wrote it",
        file.name(), version, kFormatVersion);
  return file.text_attribute("/", "format");
}

void check_format(const File& file, const std::string& format) {
  const std::string found = format_of(file);
  if (found != format) throw Error("cannot read {}: its format is {}, but {} was expected", file.name(), found, format);
}

void Digest::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

Digest::Digest() : state_(XXH3_createState()) {
  if (!state_ || XXH3_128bits_reset(state_.get()) == XXH_ERROR) throw std::bad_alloc();
}

Digest& Digest::add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
  return *this;
}

std::array<unsigned char, 16> Digest::bytes() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_.get()));
  return std::to_array(canonical.digest);
}

std::string hex(std::span<const unsigned char> bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

ShortDigest short_digest(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

}  // namespace rnnsearch::storage
