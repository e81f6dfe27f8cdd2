#include "storage/content.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "rnnsearch/base/error.h"

namespace rnnsearch::storage {
namespace {

/// A fair, recursive mutex: threads get it in the order in which they ask. With a plain mutex, a thread that reads many
/// parts of a slow file would take it again and again before a waiting thread wakes up.
class Turns {
 public:
  void lock() {
    std::unique_lock guard(mutex_);
    if (depth_ > 0 && owner_ == std::this_thread::get_id()) {
      ++depth_;
      return;
    }
    const std::uint64_t ticket = tickets_++;
    served_.wait(guard, [&] { return ticket == now_serving_; });
    owner_ = std::this_thread::get_id();
    depth_ = 1;
  }
  void unlock() {
    const std::lock_guard guard(mutex_);
    if (--depth_ > 0) return;
    ++now_serving_;
    served_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable served_;
  std::uint64_t tickets_ = 0, now_serving_ = 0;
  std::thread::id owner_;
  std::size_t depth_ = 0;
};

Turns& turns() {
  static Turns the_ones;
  return the_ones;
}

static_assert(std::endian::native == std::endian::little, "numbers have the same type in the file and in memory");

void refuse_filters(hid_t group, const Location& location) {
  const Handle creation(H5Gget_create_plist(group), H5Pclose);
  if (H5Pget_nfilters(creation.get()) != 0) throw_mismatch(location, "a group packed by filters", "one without");
}

std::vector<std::uint64_t> shape_of(hid_t dataset, const Location& location) {
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 0) throw_failure("read", location);
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  if (rank > 0) H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  return {extents.begin(), extents.end()};
}

/// Returns the supported number type that is equal to `type`, or H5I_INVALID_HID.
hid_t number_type(hid_t type) {
  for (const hid_t known :
       {H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_STD_U8LE, H5T_STD_U32LE, H5T_STD_U64LE, H5T_STD_I64LE}) {
    if (H5Tequal(type, known) > 0) return known;
  }
  return H5I_INVALID_HID;
}

/// Throws Error unless the file holds exactly the bytes of the dataset's shape, in one piece.
void check_bytes(hid_t file, const Dataset& dataset, const Location& location) {
  const hid_t id = dataset.handle.get();
  const Handle creation(H5Dget_create_plist(id), H5Pclose);
  if (H5Pget_layout(creation.get()) != H5D_CONTIGUOUS || H5Pget_external_count(creation.get()) != 0 ||
      H5Pget_nfilters(creation.get()) != 0) {
    throw_mismatch(location, "an array in chunks, packed or in other files", "one in one piece");
  }
  std::uint64_t bytes = H5Tget_size(dataset.type);
  bool fits = true;
  for (const std::uint64_t extent : dataset.shape) fits = fits && !__builtin_mul_overflow(bytes, extent, &bytes);
  if (fits && bytes == 0) return;
  hsize_t file_bytes = 0;
  H5Fget_filesize(file, &file_bytes);
  const haddr_t offset = H5Dget_offset(id);
  const hsize_t stored = offset == HADDR_UNDEF ? 0 : H5Dget_storage_size(id);
  if (!fits || stored != bytes || offset > file_bytes || bytes > file_bytes - offset) {
    throw_mismatch(location,
                   fmt::format("{} bytes at byte {} of {} for an array of shape {}", stored, offset, file_bytes,
                               shape_text(dataset.shape)),
                   "as many bytes as the array needs");
  }
}

}  // namespace

Lock::Lock() {
  static const bool is_ready = [] {
    H5dont_atexit();
    H5open();
    H5PLset_loading_state(0);
    return true;
  }();
  thread_local const bool is_silent = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
  static_cast<void>(is_ready && is_silent);
  H5Eclear2(H5E_DEFAULT);
}

Exclusive::Exclusive() { turns().lock(); }
Exclusive::~Exclusive() { turns().unlock(); }

std::string reason() {
  std::vector<std::string> complaints;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_DOWNWARD,
      [](unsigned, const H5E_error2_t* entry, void* list) -> herr_t {
        if (entry->desc) static_cast<std::vector<std::string>*>(list)->emplace_back(entry->desc);
        return 0;
      },
      &complaints);
  H5Eclear2(H5E_DEFAULT);
  if (complaints.empty()) return "HDF5 gave no reason";
  std::string text = "HDF5: " + complaints.front();
  if (complaints.size() > 1) text += " (" + complaints.back() + ")";
  for (const std::string& complaint : complaints) {
    const auto at = complaint.find("errno = ");
    if (at == std::string::npos) continue;
    const int number = std::atoi(complaint.c_str() + at + std::strlen("errno = "));
    text = std::strerror(number);
    if (number == ENOSPC || number == EDQUOT) text += "; free some space there or choose another folder";
    if (complaint.starts_with("unable to lock"))
      text = "it cannot be locked (" + text +
             "); if another process holds it, wait; if the file system has no locks, set HDF5_USE_FILE_LOCKING=FALSE";
  }
  return text;
}

void throw_failure(const char* act, const Location& location) {
  throw Error("cannot {} {} at {}: {}", act, location.file, location.path, reason());
}

void throw_mismatch(const Location& location, const std::string& found, const std::string& expected) {
  throw Error(
      "{} at {} holds {} where {} was expected; the file was written by another program or another version of this one",
      location.file, location.path, found, expected);
}

std::string shape_text(std::span<const std::uint64_t> shape) {
  std::string text = "[";
  for (const std::uint64_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

Handle text_type(std::size_t bytes) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), bytes);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  return type;
}

Handle find_object(hid_t file, const Location& location) {
  Handle object(H5Gopen2(file, "/", H5P_DEFAULT), H5Oclose);
  if (object.ok()) refuse_filters(object.get(), location);
  for (std::size_t begin = 1; object.ok() && begin < location.path.size();) {
    const std::size_t end = std::min(location.path.find('/', begin), location.path.size());
    const std::string name = location.path.substr(begin, end - begin);
    begin = end + 1;
    H5L_info_t link;
    if (H5Iget_type(object.get()) != H5I_GROUP || H5Lexists(object.get(), name.c_str(), H5P_DEFAULT) <= 0 ||
        H5Lget_info(object.get(), name.c_str(), &link, H5P_DEFAULT) < 0) {
      return Handle(H5I_INVALID_HID, H5Oclose);
    }
    if (link.type != H5L_TYPE_HARD) throw_mismatch(location, "a symbolic or external link", "a hard link");
    Handle next(H5Oopen(object.get(), name.c_str(), H5P_DEFAULT), H5Oclose);
    if (!next.ok())
      throw_failure("read", location);  // must come before the group is closed, which would clear the reason
    object = std::move(next);
    if (H5Iget_type(object.get()) == H5I_GROUP) refuse_filters(object.get(), location);
  }
  return object;
}

Handle open_object(hid_t file, const Location& location) {
  Handle object = find_object(file, location);
  if (!object.ok()) throw Error("cannot read {} at {}: there is no such object", location.file, location.path);
  return object;
}

Dataset open_dataset(hid_t file, const Location& location) {
  Dataset dataset{open_object(file, location), H5I_INVALID_HID, {}};
  const hid_t id = dataset.handle.get();
  if (H5Iget_type(id) != H5I_DATASET) throw_mismatch(location, "an object of another kind", "an array");
  const Handle type(H5Dget_type(id), H5Tclose);
  dataset.type = number_type(type.get());
  if (dataset.type < 0) throw_mismatch(location, "values of another type", "numbers");
  dataset.shape = shape_of(id, location);
  if (dataset.shape.size() != 1 && dataset.shape.size() != 2)
    throw_mismatch(location, "an array of shape " + shape_text(dataset.shape), "a list or a matrix");
  check_bytes(file, dataset, location);
  return dataset;
}

Handle open_attribute(hid_t file, const Location& location, const std::string& attribute, H5T_class_t type_class) {
  const Handle object = open_object(file, location);
  if (H5Aexists(object.get(), attribute.c_str()) <= 0) throw_mismatch(location, "no attribute", "'" + attribute + "'");
  Handle handle(H5Aopen(object.get(), attribute.c_str(), H5P_DEFAULT), H5Aclose);
  if (!handle.ok()) throw_failure("read", location);
  const Handle type(H5Aget_type(handle.get()), H5Tclose), space(H5Aget_space(handle.get()), H5Sclose);
  const auto is = [&](hid_t known) { return H5Tequal(type.get(), known) > 0; };
  const bool good = type_class == H5T_STRING  ? is(text_type(H5Tget_size(type.get())).get())
                    : type_class == H5T_FLOAT ? is(H5T_IEEE_F64LE)
                                              : is(H5T_STD_I64LE) || is(H5T_STD_U64LE);
  if (!good || H5Sget_simple_extent_type(space.get()) != H5S_SCALAR) {
    throw_mismatch(location, "an attribute '" + attribute + "' of another type",
                   type_class == H5T_STRING ? "one text" : "one number");
  }
  return handle;
}

}  // namespace rnnsearch::storage
