#include "storage/text_references.h"

#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "rnnsearch/base/error.h"
#include "storage/handle.h"

namespace rnnsearch::storage {
namespace {

// HDF5 File Format Specification, version 3.0, III.E "Disk Format: Level 1E - Global Heap", with lengths and addresses
// of 8 bytes, and IV.B for the reference (length of 4 bytes, address, index of 4 bytes). Integers are little-endian.
constexpr std::size_t kHeapHeaderBytes = 16;    // "GCOL", version, 3 reserved bytes, size of the heap
constexpr std::size_t kObjectHeaderBytes = 16;  // index and reference count (2 bytes each), 4 reserved bytes, size
constexpr std::uint8_t kHeapVersion = 1;
constexpr std::uint64_t kSmallestHeapBytes = 4096;
constexpr std::uint64_t kAlignment = 8;

using Bytes = const unsigned char*;

template <class T>
T integer(Bytes bytes) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

/// Reads raw bytes of the file, with a read-ahead for neighbouring heaps.
class RawFile {
 public:
  /// Uses the file descriptor of HDF5.
  RawFile(hid_t file, const std::string& place) : place_(place) {
    void* descriptor = nullptr;
    haddr_t end = 0;
    struct stat status {};
    if (H5Fget_vfd_handle(file, H5P_DEFAULT, &descriptor) < 0 || !descriptor || H5Fget_eoa(file, &end) < 0)
      throw Error("cannot read {}: {}", place, reason());
    descriptor_ = *static_cast<int*>(descriptor);
    if (::fstat(descriptor_, &status) != 0) fail(errno);
    size_ = std::min<std::uint64_t>(end, static_cast<std::uint64_t>(status.st_size));
  }
  std::uint64_t size() const { return size_; }
  /// Returns `count` bytes, valid until the next call. REQUIRES: count <= kAhead, and the range is within the file.
  Bytes at(std::uint64_t offset, std::size_t count) {
    if (offset < offset_ || offset - offset_ + count > filled_) {
      offset_ = offset;
      filled_ = 0;
      const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kAhead, size_ - offset));
      while (filled_ < wanted) {
        const ssize_t got =
            ::pread(descriptor_, ahead_.data() + filled_, wanted - filled_, static_cast<off_t>(offset + filled_));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) fail(got < 0 ? errno : EIO);
        filled_ += static_cast<std::size_t>(got);
      }
    }
    return ahead_.data() + (offset - offset_);
  }

 private:
  static constexpr std::size_t kAhead = 32 << 10;
  [[noreturn]] void fail(int number) const { throw Error("cannot read {}: {}", place_, std::strerror(number)); }

  const std::string& place_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0, offset_ = 0;
  std::size_t filled_ = 0;
  std::vector<unsigned char> ahead_ = std::vector<unsigned char>(kAhead);
};

[[noreturn]] void refuse(const std::string& place, const std::string& found) {
  throw Error("{} holds {}; the file is damaged or was not written by this program: make it again or use another copy",
              place, found);
}

struct Object {
  std::uint64_t size;
  std::uint16_t index;
  bool has_reference;
};
struct Heap {
  std::uint64_t address, end;
  std::vector<Object> objects;  // sorted by index
};

/// Reads a heap like H5HG__cache_heap_deserialize, but throws Error for invalid data that HDF5 would accept.
Heap read_heap(RawFile& file, std::uint64_t address, const std::string& place) {
  const auto bad = [&](const std::string& what) {
    refuse(place, fmt::format("texts in a heap at byte {}{}", address, what));
  };
  if (address > file.size() || file.size() - address < kSmallestHeapBytes) bad(", beyond the end of the file");
  const Bytes header = file.at(address, kHeapHeaderBytes);
  if (std::memcmp(header, "GCOL", 4) != 0 || header[4] != kHeapVersion) bad(" where there is no heap");
  const auto bytes = integer<std::uint64_t>(header + 8);
  if (bytes < kSmallestHeapBytes || bytes > file.size() - address)
    bad(fmt::format(" of an impossible size, {}", bytes));
  Heap heap{address, address + bytes, {}};
  for (std::uint64_t at = address + kHeapHeaderBytes; heap.end - at >= kObjectHeaderBytes;) {
    const Bytes object = file.at(at, kObjectHeaderBytes);
    const auto index = integer<std::uint16_t>(object);
    const auto size = integer<std::uint64_t>(object + 8);
    const std::uint64_t room = heap.end - at - kObjectHeaderBytes;
    if (index == 0) {  // index 0 is the free space; its size includes its header and extends to the end of the heap
      if (size != heap.end - at) bad(fmt::format(" whose free space has an impossible size, {}", size));
      break;
    }
    const std::uint64_t padding = (kAlignment - size % kAlignment) % kAlignment;
    if (size > room || padding > room - size) bad(fmt::format(" whose object {} exceeds the heap", index));
    heap.objects.push_back({size, index, false});
    at += kObjectHeaderBytes + size + padding;
  }
  const auto before = [](const Object& a, const Object& b) { return a.index < b.index; };
  if (!std::is_sorted(heap.objects.begin(), heap.objects.end(), before))
    std::sort(heap.objects.begin(), heap.objects.end(), before);
  const auto twice = std::adjacent_find(heap.objects.begin(), heap.objects.end(),
                                        [](const Object& a, const Object& b) { return a.index == b.index; });
  if (twice != heap.objects.end()) bad(fmt::format(" that has object {} twice", twice->index));
  return heap;
}

Object* find(Heap& heap, std::uint32_t index) {
  const auto at = std::lower_bound(heap.objects.begin(), heap.objects.end(), index,
                                   [](const Object& object, std::uint32_t wanted) { return object.index < wanted; });
  return at != heap.objects.end() && at->index == index ? &*at : nullptr;
}

/// A type conversion from references to bytes that does not change them. With it, HDF5 returns the references that it
/// would follow, for any layout, of datasets and attributes.
herr_t leave_as_stored(hid_t, hid_t, H5T_cdata_t* data, std::size_t, std::size_t, std::size_t, void*, void*, hid_t) {
  if (data->command == H5T_CONV_INIT) data->need_bkg = H5T_BKG_NO;
  return 0;
}

/// The type of a reference as 16 opaque bytes. The type and its conversion exist until the program ends.
hid_t reference_type() {
  static const hid_t the_one = [] {
    const hid_t bytes = H5Tcreate(H5T_OPAQUE, kReferenceBytes);
    const Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(text.get(), H5T_VARIABLE);
    return H5Tregister(H5T_PERS_SOFT, "references", text.get(), bytes, leave_as_stored) < 0 ? H5I_INVALID_HID : bytes;
  }();
  return the_one;
}

void check_layout(hid_t file, const std::string& place) {
  const Handle creation(H5Fget_create_plist(file), H5Pclose);
  std::size_t address_bytes = 0, length_bytes = 0;
  hsize_t user_block = 0, image_bytes = 0;
  haddr_t image = HADDR_UNDEF;
  if (H5Pget_sizes(creation.get(), &address_bytes, &length_bytes) < 0 ||
      H5Pget_userblock(creation.get(), &user_block) < 0 || H5Fget_mdc_image_info(file, &image, &image_bytes) < 0)
    throw Error("cannot read {}: {}", place, reason());
  if (address_bytes != 8 || length_bytes != 8)
    refuse(place,
           fmt::format(
               "texts in a file with addresses of {} and lengths of {} bytes, where 8 bytes were expected for both",
               address_bytes, length_bytes));
  if (user_block != 0) refuse(place, fmt::format("texts in a file that begins at byte {}", user_block));
  if (image != HADDR_UNDEF) refuse(place, "texts in a file with an image of a cache");
}

/// Checks that characters have one byte, so that lengths are numbers of bytes.
void check_characters(hid_t type, const std::string& place) {
  const Handle character(H5Tget_super(type), H5Tclose);
  if (!character.ok() || H5Tget_size(character.get()) != 1) refuse(place, "texts of characters of more bytes than one");
}

}  // namespace

void check_text_references(std::int64_t file, std::int64_t dataset_or_attribute, std::size_t count,
                           const std::string& place) {
  check_layout(file, place);
  unsigned intent = 0;
  H5Fget_intent(file, &intent);
  if (intent & H5F_ACC_RDWR) H5Fflush(file, H5F_SCOPE_LOCAL);  // heaps just written may exist in memory only
  const bool is_dataset = H5Iget_type(dataset_or_attribute) == H5I_DATASET;
  const Handle type(is_dataset ? H5Dget_type(dataset_or_attribute) : H5Aget_type(dataset_or_attribute), H5Tclose);
  check_characters(type.get(), place);
  std::vector<std::array<unsigned char, kReferenceBytes>> references(count);
  const hid_t raw = reference_type();
  const herr_t status = is_dataset
                            ? H5Dread(dataset_or_attribute, raw, H5S_ALL, H5S_ALL, H5P_DEFAULT, references.data())
                            : H5Aread(dataset_or_attribute, raw, references.data());
  if (raw < 0 || status < 0) throw Error("cannot read {}: {}", place, reason());

  RawFile bytes(file, place);
  std::map<std::uint64_t, Heap> heaps;  // by address
  Heap* heap = nullptr;                 // the last heap, which neighbouring texts usually share
  for (std::size_t i = 0; i < count; ++i) {
    const Bytes reference = references[i].data();
    const auto length = integer<std::uint32_t>(reference);
    const auto address = integer<std::uint64_t>(reference + 4);
    const auto index = integer<std::uint32_t>(reference + 12);
    if (address == 0) {  // HDF5 reads this as an empty text, but writes empty texts as objects without bytes
      if (length == 0 && index == 0) continue;
      refuse(place, fmt::format("text {} of {} bytes in object {} of no heap", i, length, index));
    }
    if (!heap || heap->address != address) {
      auto next = heaps.lower_bound(address);
      if (next == heaps.end() || next->first != address) {
        Heap found = read_heap(bytes, address, place);
        const bool overlaps = (next != heaps.end() && found.end > next->first) ||
                              (next != heaps.begin() && std::prev(next)->second.end > address);
        if (overlaps) refuse(place, fmt::format("texts in a heap at byte {} inside another", address));
        next = heaps.emplace_hint(next, address, std::move(found));
      }
      heap = &next->second;
    }
    Object* const object = find(*heap, index);
    if (!object)
      refuse(place, fmt::format("text {} in object {} of the heap at byte {}, which has none of that number", i, index,
                                address));
    if (object->size != length)
      refuse(place, fmt::format("text {} of {} bytes in object {} of the heap at byte {}, which has {}", i, length,
                                index, address, object->size));
    if (object->has_reference)
      refuse(place,
             fmt::format("text {} in object {} of the heap at byte {}, where another text is", i, index, address));
    object->has_reference = true;
  }
}

}  // namespace rnnsearch::storage
