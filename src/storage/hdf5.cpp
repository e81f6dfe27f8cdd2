#include "rnnsearch/storage/hdf5.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "rnnsearch/base/error.h"
#include "storage/content.h"
#include "storage/lock.h"
#include "storage/text_references.h"

namespace rnnsearch::storage {
namespace {

// Elements of a chunk in datasets that are written and read as a whole.
constexpr std::size_t kChunkElements = 1 << 15;

constexpr unsigned kDeflateLevel = 1;  // for the reason see corpus/format.h

/// Turns off the creation times of objects, so that the same content always gives the same bytes.
Handle without_times(hid_t kind) {
  Handle creation(H5Pcreate(kind), H5Pclose);
  H5Pset_obj_track_times(creation.get(), false);
  return creation;
}

/// Creates the missing groups above `place`.
void make_groups_above(hid_t file, const Place& place) {
  for (std::size_t end = place.path.find('/', 1); end != std::string::npos; end = place.path.find('/', end + 1)) {
    const std::string step = place.path.substr(0, end);
    if (H5Lexists(file, step.c_str(), H5P_DEFAULT) > 0) continue;
    const Handle creation = without_times(H5P_GROUP_CREATE);
    const Handle group(H5Gcreate2(file, step.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), H5Gclose);
    if (!group.ok()) cannot("write", place);
  }
}

/// Turns off the chunk cache, which would only cost memory for each open dataset, because whole chunks are written.
Handle without_cache() {
  Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  H5Pset_chunk_cache(access.get(), H5D_CHUNK_CACHE_NSLOTS_DEFAULT, 0, 1.0);
  return access;
}

/// chunk: shape of a chunk, or empty for a contiguous dataset without checksums (HDF5 has none for texts). A dataset
/// that grows is compressed. A dataset that grows, or is empty, is created without an upper bound.
Handle create_dataset(hid_t file, const Place& place, hid_t type, std::vector<hsize_t> extents,
                      std::vector<hsize_t> chunk, bool grows) {
  std::vector<hsize_t> limits = extents;
  if (!chunk.empty() && (grows || std::find(extents.begin(), extents.end(), 0) != extents.end()))
    limits.assign(extents.size(), H5S_UNLIMITED);
  for (hsize_t& length : chunk) length = std::max<hsize_t>(length, 1);
  const Handle space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), limits.data()), H5Sclose);
  make_groups_above(file, place);
  const Handle creation = without_times(H5P_DATASET_CREATE);
  if (!chunk.empty()) {
    H5Pset_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data());
    if (grows) {
      H5Pset_shuffle(creation.get());
      H5Pset_deflate(creation.get(), kDeflateLevel);
    }
    H5Pset_fletcher32(creation.get());  // last, so that it covers the bytes as stored
    H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER);
  }
  const Handle access = without_cache();
  Handle dataset(H5Dcreate2(file, place.path.c_str(), type, space.get(), H5P_DEFAULT, creation.get(), access.get()),
                 H5Dclose);
  if (!dataset.ok()) cannot("write", place);  // must come before the other handles are closed: that clears the reason
  return dataset;
}

/// Writes an attribute with one value, and replaces an existing one. A missing object is created as a group.
void write_scalar(hid_t file, const Place& place, const std::string& attribute, hid_t type, const void* value) {
  Handle object = find_object(file, place);
  if (!object.ok()) {
    make_groups_above(file, place);
    const Handle creation = without_times(H5P_GROUP_CREATE);
    object = Handle(H5Gcreate2(file, place.path.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), H5Gclose);
    if (!object.ok()) cannot("write", place);
  }
  if (H5Aexists(object.get(), attribute.c_str()) > 0) H5Adelete(object.get(), attribute.c_str());
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  Handle handle(H5Acreate2(object.get(), attribute.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (!handle.ok() || H5Awrite(handle.get(), type, value) < 0 || !handle.close()) cannot("write", place);
}

/// The type in files and in memory: content.cpp requires a machine that is little-endian, as the files are.
template <Number T>
hid_t type_of() {
  if constexpr (std::same_as<T, float>) return H5T_IEEE_F32LE;
  if constexpr (std::same_as<T, double>) return H5T_IEEE_F64LE;
  if constexpr (std::same_as<T, std::uint8_t>) return H5T_STD_U8LE;
  if constexpr (std::same_as<T, std::uint32_t>) return H5T_STD_U32LE;
  if constexpr (std::same_as<T, std::uint64_t>) return H5T_STD_U64LE;
  if constexpr (std::same_as<T, std::int64_t>) return H5T_STD_I64LE;
}

template <Number T>
const char* name_of() {
  if constexpr (std::same_as<T, float>) return "float32";
  if constexpr (std::same_as<T, double>) return "float64";
  if constexpr (std::same_as<T, std::uint8_t>) return "uint8";
  if constexpr (std::same_as<T, std::uint32_t>) return "uint32";
  if constexpr (std::same_as<T, std::uint64_t>) return "uint64";
  if constexpr (std::same_as<T, std::int64_t>) return "int64";
}

template <Number T>
MatrixView<std::byte> bytes_of(MatrixView<T> values) {
  return {reinterpret_cast<std::byte*>(values.data), values.rows, values.cols * sizeof(T), values.stride * sizeof(T)};
}

/// Opens a dataset of numbers of type T. Throws Error for another type.
template <Number T>
Dataset open_numbers(hid_t file, const Place& place) {
  Dataset dataset = open_dataset(file, place);
  if (dataset.type != type_of<T>()) unlike(place, "values of another type", name_of<T>());
  return dataset;
}

/// The length of a list. Throws Error for an array of two dimensions.
std::uint64_t length_of(const Dataset& list, const Place& place) {
  if (list.shape.size() != 1) unlike(place, "an array of shape " + shape_text(list.shape), "a list");
  return list.shape[0];
}

/// Elements [first, first + count) of a list. REQUIRES: it has them.
template <Number T>
std::vector<T> read_part(const Dataset& list, const Place& place, std::uint64_t first, std::uint64_t count) {
  std::vector<T> values(count);
  read_numbers(list, place, first, bytes_of(MatrixView<T>(values.data(), 1, count)));
  return values;
}

/// A whole dataset of exactly the shape `expected`, else throws Error.
template <Number T>
void read_all(hid_t file, const Place& place, MatrixView<T> values, const std::vector<std::uint64_t>& expected) {
  const Dataset dataset = open_numbers<T>(file, place);
  if (dataset.shape != expected) unlike(place, "an array of shape " + shape_text(dataset.shape), shape_text(expected));
  read_numbers(dataset, place, 0, bytes_of(values));
}

/// Writes all of a dataset and closes it. values: nullptr if it is empty.
void write_whole(Handle dataset, const Place& place, hid_t type, hid_t memory, const void* values) {
  if (values && H5Dwrite(dataset.get(), type, memory, H5S_ALL, H5P_DEFAULT, values) < 0) cannot("write", place);
  if (!dataset.close()) cannot("write", place);
}

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
  if (id < 0) throw Error("cannot create {}: {}", name, reason());
  return File(id, name);
}

File File::open(const std::filesystem::path& path) {
  const Lock lock;
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  H5Pset_file_locking(access.get(), false, true);
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get());
  if (id < 0) throw Error("cannot open {}: {}", path, reason());
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
    throw Error("cannot write {}: {}", name_, flushed ? reason() : why);
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
  const std::size_t chunk = std::min(values.size(), kChunkElements);
  write_whole(create_dataset(id_, place, type_of<T>(), {values.size()}, {chunk}, false), place, type_of<T>(), H5S_ALL,
              values.empty() ? nullptr : values.data());
}

template <Number T>
void File::write(const std::string& dataset, ConstMatrixView<T> values) {
  const Lock lock;
  const Place place{name_, dataset};
  const std::size_t chunk_cols = std::min(values.cols, kMostChunkBytes / sizeof(T));
  const std::size_t chunk_rows = kMostChunkBytes / sizeof(T) / std::max<std::size_t>(chunk_cols, 1);
  Handle handle = create_dataset(id_, place, type_of<T>(), {values.rows, values.cols},
                                 {std::min(values.rows, chunk_rows), chunk_cols}, false);
  const Handle memory = memory_space(values);
  write_whole(std::move(handle), place, type_of<T>(), memory.get(),
              values.rows * values.cols == 0 ? nullptr : values.data);
}

void File::write_texts(const std::string& dataset, std::span<const std::string> texts) {
  const Lock lock;
  const Place place{name_, dataset};
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  const Handle type = text_type();
  write_whole(create_dataset(id_, place, type.get(), {texts.size()}, {}, false), place, type.get(), H5S_ALL,
              texts.empty() ? nullptr : pointers.data());
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
    unlike(place, fmt::format("{} values", size), fmt::format("at least {} + {}", first, count));
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
  check_text_references(id_, id, pointers.size(), fmt::format("{} at {}", name_, dataset));
  const Handle type = text_type();
  const bool good = H5Dread(id, type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()) >= 0;
  const std::string why = good ? "" : reason();
  std::vector<std::string> texts;
  texts.reserve(pointers.size());
  for (const char* pointer : pointers) texts.emplace_back(pointer ? pointer : "");
  const Handle space(H5Dget_space(id), H5Sclose);
  H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, pointers.data());  // also after a partial read
  if (!good) throw Error("cannot read {} at {}: {}", name_, dataset, why);
  return texts;
}

void File::write_attribute(const std::string& object, const std::string& attribute, std::string_view text) {
  const Lock lock;
  const std::string terminated(text);
  const char* pointer = terminated.c_str();
  write_scalar(id_, {name_, object}, attribute, text_type().get(), &pointer);
}

template <Number T>
void File::write_number(const std::string& object, const std::string& attribute, T value) {
  const Lock lock;
  write_scalar(id_, {name_, object}, attribute, type_of<T>(), &value);
}

template <Number T>
T File::number_attribute(const std::string& object, const std::string& attribute) const {
  const Lock lock;
  const Place place{name_, object};
  const Handle handle = open_attribute(id_, place, attribute, std::floating_point<T> ? H5T_FLOAT : H5T_INTEGER);
  T value{};
  if (H5Aread(handle.get(), type_of<T>(), &value) < 0) cannot("read", place);
  return value;
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
  check_text_references(id_, handle.get(), 1, fmt::format("{} at {}, attribute '{}',", name_, object, attribute));
  const Handle type = text_type();
  char* pointer = nullptr;
  if (H5Aread(handle.get(), type.get(), &pointer) < 0) cannot("read", place);
  std::string text = pointer ? pointer : "";
  H5free_memory(pointer);
  return text;
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
  if (H5Dset_extent(id_, &extent) < 0) throw Error("cannot write {}: {}", place_, reason());
  const Handle memory(H5Screate_simple(1, &length, nullptr), H5Sclose);
  const Handle space(H5Dget_space(id_), H5Sclose);
  H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &length, nullptr);
  if (H5Dwrite(id_, type_of<T>(), memory.get(), space.get(), H5P_DEFAULT, values.data()) < 0)
    throw Error("cannot write {}: {}", place_, reason());
  written_ = extent;
  buffer_.clear();
}

template <Number T>
void Appender<T>::close() {
  const Lock lock;
  if (!buffer_.empty()) write_out(buffer_);
  if (H5Dclose(std::exchange(id_, -1)) < 0) throw Error("cannot write {}: {}", place_, reason());
}

#define RNNSEARCH_INSTANTIATE(T)                                                                       \
  template void File::write<T>(const std::string&, std::span<const T>);                                \
  template void File::write<T>(const std::string&, ConstMatrixView<T>);                                \
  template std::vector<T> File::read<T>(const std::string&) const;                                     \
  template std::vector<T> File::read_range<T>(const std::string&, std::uint64_t, std::uint64_t) const; \
  template void File::read_into<T>(const std::string&, std::span<T>) const;                            \
  template void File::read_into<T>(const std::string&, MatrixView<T>) const;                           \
  template void File::write_number<T>(const std::string&, const std::string&, T);                      \
  template T File::number_attribute<T>(const std::string&, const std::string&) const;                  \
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
  return fmt::format("HDF5 {}.{}.{}", major, minor, release);
}

}  // namespace rnnsearch::storage
