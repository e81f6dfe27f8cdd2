#include "rnnsearch/storage/hdf5.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "rnnsearch/base/error.h"
#include "storage/content.h"
#include "storage/creation.h"
#include "storage/lock.h"
#include "storage/numbers.h"
#include "storage/text_references.h"

namespace rnnsearch::storage {
namespace {

// Elements of a chunk in datasets that are written and read as a whole.
constexpr std::size_t kChunkElements = 1 << 15;

/// The first `cols` columns of memory [rows, stride].
template <class T>
Handle memory_space(const MatrixView<T>& view) {
  const std::array<hsize_t, 2> whole{view.rows, view.stride}, start{0, 0}, part{view.rows, view.cols};
  Handle space(H5Screate_simple(2, whole.data(), nullptr), H5Sclose);
  H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, part.data(), nullptr);
  return space;
}

}  // namespace

File File::create(const std::filesystem::path& path, const std::filesystem::path& shown_as) {
  const Lock lock;
  const std::string name = (shown_as.empty() ? path : shown_as).string();
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // Files that HDF5 1.10 and every later library can read, whichever library this program is built with.
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  H5Pset_file_locking(access.get(), false, true);
  const Handle creation = without_times(H5P_FILE_CREATE);
  const hid_t id = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get());
  if (id < 0) throw Error(text_of("cannot create ", name, ": ", reason()));
  return File(id, name);
}

File File::open(const std::filesystem::path& path) {
  const Lock lock;
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  H5Pset_file_locking(access.get(), false, true);
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get());
  if (id < 0) throw Error(text_of("cannot open ", path.string(), ": ", reason()));
  return File(id, path.string());
}

File::~File() {
  if (id_ < 0) return;
  const Lock lock;
  H5Fclose(id_);
  H5Eclear2(H5E_DEFAULT);
}

File::File(File&& other) noexcept : id_(std::exchange(other.id_, -1)), name_(std::move(other.name_)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(name_, other.name_);
  return *this;
}

void File::close() {
  if (id_ < 0) return;
  const Lock lock;
  const bool flushed = H5Fflush(id_, H5F_SCOPE_GLOBAL) >= 0;
  const std::string why = flushed ? "" : reason();
  if (H5Fclose(std::exchange(id_, -1)) < 0 || !flushed)
    throw Error(text_of("cannot write ", name_, ": ", flushed ? reason() : why));
}

bool File::exists(const std::string& path) const {
  const Lock lock;
  return find_object(id_, {name_, path}).ok();
}

bool File::is_group(const std::string& path) const {
  const Lock lock;
  const Handle object = find_object(id_, {name_, path});
  return object.ok() && H5Iget_type(object.get()) == H5I_GROUP;
}

std::vector<std::string> File::children(const std::string& group) const {
  const Lock lock;
  const Place place{name_, group};
  const Handle handle = open_object(id_, place);
  std::vector<std::string> names;
  const auto visit = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  if (H5Literate(handle.get(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, visit, &names) < 0) cannot("read", place);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::uint64_t> File::shape(const std::string& dataset) const {
  const Lock lock;
  return open_dataset(id_, {name_, dataset}).shape;
}

template <Number T>
void File::write(const std::string& dataset, std::span<const T> values) {
  const Lock lock;
  const Place place{name_, dataset};
  Handle handle =
      create_dataset(id_, place, type_of<T>(), {values.size()}, {std::min(values.size(), kChunkElements)}, false);
  if (!values.empty() && H5Dwrite(handle.get(), memory_type_of<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    cannot("write", place);
  if (!handle.close()) cannot("write", place);
}

template <Number T>
void File::write(const std::string& dataset, ConstMatrixView<T> values) {
  const Lock lock;
  const Place place{name_, dataset};
  const std::size_t chunk_cols = std::min(values.cols, kMostChunkBytes / sizeof(T));
  const std::size_t chunk_rows = kMostChunkBytes / sizeof(T) / std::max<std::size_t>(chunk_cols, 1);
  Handle handle = create_dataset(id_, place, type_of<T>(), {values.rows, values.cols},
                                 {std::min(values.rows, chunk_rows), chunk_cols}, false);
  if (values.rows * values.cols > 0) {
    const Handle memory = memory_space(values);
    if (H5Dwrite(handle.get(), memory_type_of<T>(), memory.get(), H5S_ALL, H5P_DEFAULT, values.data) < 0)
      cannot("write", place);
  }
  if (!handle.close()) cannot("write", place);
}

void File::write_texts(const std::string& dataset, std::span<const std::string> texts) {
  const Lock lock;
  const Place place{name_, dataset};
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  const Handle type = text_type();
  Handle handle = create_dataset(id_, place, type.get(), {texts.size()}, {}, false);
  if (!texts.empty() && H5Dwrite(handle.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()) < 0)
    cannot("write", place);
  if (!handle.close()) cannot("write", place);
}

template <Number T>
std::vector<T> File::read(const std::string& dataset) const {
  const Lock lock;
  const Place place{name_, dataset};
  const Dataset list = open_numbers<T>(id_, place);
  return read_part<T>(list, place, 0, length_of(list, place));
}

template <Number T>
std::vector<T> File::read_range(const std::string& dataset, std::uint64_t first, std::uint64_t count) const {
  const Lock lock;
  const Place place{name_, dataset};
  const Dataset list = open_numbers<T>(id_, place);
  const std::uint64_t size = length_of(list, place);
  if (first > size || count > size - first)
    unlike(place, text_of(size, " values"), text_of("at least ", first, " + ", count));
  return read_part<T>(list, place, first, count);
}

template <Number T>
void File::read_into(const std::string& dataset, std::span<T> values) const {
  const Lock lock;
  read_all(id_, {name_, dataset}, MatrixView<T>(values.data(), 1, values.size()), {values.size()});
}

template <Number T>
void File::read_into(const std::string& dataset, MatrixView<T> values) const {
  const Lock lock;
  read_all(id_, {name_, dataset}, values, {values.rows, values.cols});
}

std::vector<std::string> File::read_texts(const std::string& dataset) const {
  const Lock lock;
  const Place place{name_, dataset};
  const Dataset list = open_dataset(id_, place);
  const hid_t id = list.handle.get();
  if (list.type >= 0) unlike(place, "values of another type", "texts");
  std::vector<char*> pointers(length_of(list, place));
  if (pointers.empty()) return {};
  check_text_references(id_, id, pointers.size(), text_of(name_, " at ", dataset));
  const Handle type = text_type();
  const bool good = H5Dread(id, type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()) >= 0;
  const std::string why = good ? "" : reason();
  std::vector<std::string> texts;
  texts.reserve(pointers.size());
  for (const char* pointer : pointers) texts.emplace_back(pointer ? pointer : "");
  const Handle space(H5Dget_space(id), H5Sclose);
  H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, pointers.data());  // also after a partial read
  if (!good) throw Error(text_of("cannot read ", name_, " at ", dataset, ": ", why));
  return texts;
}

void File::write_attribute(const std::string& object, const std::string& attribute, std::string_view text) {
  const Lock lock;
  const std::string terminated(text);
  const char* pointer = terminated.c_str();
  const Handle type = text_type();
  write_scalar(id_, {name_, object}, attribute, type.get(), type.get(), &pointer);
}

void File::write_attribute(const std::string& object, const std::string& attribute, double value) {
  const Lock lock;
  write_scalar(id_, {name_, object}, attribute, type_of<double>(), memory_type_of<double>(), &value);
}

void File::write_integer(const std::string& object, const std::string& attribute, std::int64_t value) {
  const Lock lock;
  write_scalar(id_, {name_, object}, attribute, type_of<std::int64_t>(), memory_type_of<std::int64_t>(), &value);
}

void File::write_integer(const std::string& object, const std::string& attribute, std::uint64_t value) {
  const Lock lock;
  write_scalar(id_, {name_, object}, attribute, type_of<std::uint64_t>(), memory_type_of<std::uint64_t>(), &value);
}

bool File::has_attribute(const std::string& object, const std::string& attribute) const {
  const Lock lock;
  const Handle handle = find_object(id_, {name_, object});
  return handle.ok() && H5Aexists(handle.get(), attribute.c_str()) > 0;
}

std::vector<std::string> File::attributes(const std::string& object) const {
  const Lock lock;
  const Place place{name_, object};
  const Handle handle = open_object(id_, place);
  std::vector<std::string> names;
  const auto visit = [](hid_t, const char* name, const H5A_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  if (H5Aiterate2(handle.get(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, visit, &names) < 0) cannot("read", place);
  std::sort(names.begin(), names.end());
  return names;
}

std::string File::text_attribute(const std::string& object, const std::string& attribute) const {
  const Lock lock;
  const Place place{name_, object};
  const Handle handle = open_attribute(id_, place, attribute, H5T_STRING);
  check_text_references(id_, handle.get(), 1, text_of(name_, " at ", object, ", attribute '", attribute, "',"));
  const Handle type = text_type();
  char* pointer = nullptr;
  if (H5Aread(handle.get(), type.get(), &pointer) < 0) cannot("read", place);
  std::string text = pointer ? pointer : "";
  H5free_memory(pointer);
  return text;
}

double File::double_attribute(const std::string& object, const std::string& attribute) const {
  const Lock lock;
  return read_scalar<double>(id_, {name_, object}, attribute);
}

std::int64_t File::integer_attribute(const std::string& object, const std::string& attribute) const {
  const Lock lock;
  return read_scalar<std::int64_t>(id_, {name_, object}, attribute);
}

std::uint64_t File::unsigned_attribute(const std::string& object, const std::string& attribute) const {
  const Lock lock;
  return read_scalar<std::uint64_t>(id_, {name_, object}, attribute);
}

template <Number T>
Appender<T>::Appender(File& file, const std::string& dataset, std::size_t chunk_elements)
    : place_(file.name() + " at " + dataset), chunk_elements_(chunk_elements) {
  assert(chunk_elements > 0 && chunk_elements * sizeof(T) <= kMostChunkBytes);
  const Lock lock;
  id_ = create_dataset(file.id_, {file.name_, dataset}, type_of<T>(), {0}, {chunk_elements_}, true).release();
  buffer_.reserve(chunk_elements_);
}

template <Number T>
Appender<T>::~Appender() {
  if (id_ < 0) return;
  const Lock lock;
  H5Dclose(id_);
}

template <Number T>
void Appender<T>::append(std::span<const T> values) {
  while (!values.empty()) {
    const std::size_t part = std::min(values.size(), chunk_elements_ - buffer_.size());
    buffer_.insert(buffer_.end(), values.begin(), values.begin() + static_cast<std::ptrdiff_t>(part));
    values = values.subspan(part);
    if (buffer_.size() == chunk_elements_) write_out(buffer_);
  }
}

template <Number T>
void Appender<T>::write_out(std::span<const T> values) {
  const Lock lock;
  const hsize_t start = written_, length = values.size(), extent = start + length;
  if (H5Dset_extent(id_, &extent) < 0) throw Error(text_of("cannot write ", place_, ": ", reason()));
  const Handle memory(H5Screate_simple(1, &length, nullptr), H5Sclose);
  const Handle space(H5Dget_space(id_), H5Sclose);
  H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &length, nullptr);
  if (H5Dwrite(id_, memory_type_of<T>(), memory.get(), space.get(), H5P_DEFAULT, values.data()) < 0)
    throw Error(text_of("cannot write ", place_, ": ", reason()));
  written_ = extent;
  buffer_.clear();
}

template <Number T>
void Appender<T>::close() {
  const Lock lock;
  if (!buffer_.empty()) write_out(buffer_);
  if (H5Dclose(std::exchange(id_, -1)) < 0) throw Error(text_of("cannot write ", place_, ": ", reason()));
}

#define RNNSEARCH_INSTANTIATE(T)                                                                       \
  template void File::write<T>(const std::string&, std::span<const T>);                                \
  template void File::write<T>(const std::string&, ConstMatrixView<T>);                                \
  template std::vector<T> File::read<T>(const std::string&) const;                                     \
  template std::vector<T> File::read_range<T>(const std::string&, std::uint64_t, std::uint64_t) const; \
  template void File::read_into<T>(const std::string&, std::span<T>) const;                            \
  template void File::read_into<T>(const std::string&, MatrixView<T>) const;                           \
  template class Appender<T>;
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
RNNSEARCH_INSTANTIATE(std::uint8_t)
RNNSEARCH_INSTANTIATE(std::uint32_t)
RNNSEARCH_INSTANTIATE(std::uint64_t)
RNNSEARCH_INSTANTIATE(std::int64_t)
#undef RNNSEARCH_INSTANTIATE

std::string library() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return text_of("HDF5 ", major, ".", minor, ".", release);
}

}  // namespace rnnsearch::storage
