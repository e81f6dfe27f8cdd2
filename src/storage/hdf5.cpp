#include "rnnsearch/storage/hdf5.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <utility>

#include "rnnsearch/base/error.h"
#include "storage/content.h"

namespace rnnsearch::storage {
namespace {

/// Turns off the creation times of objects, so that the same content always gives the same bytes.
Handle without_times(hid_t kind) {
  Handle creation(H5Pcreate(kind), H5Pclose);
  H5Pset_obj_track_times(creation.get(), false);
  return creation;
}

Handle create_group(hid_t file, const std::string& path, const Location& location) {
  const Handle creation = without_times(H5P_GROUP_CREATE);
  Handle group(H5Gcreate2(file, path.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), H5Gclose);
  if (!group.ok()) throw_failure("write", location);
  return group;
}

/// The names that iterate(object, visit, list) visits, sorted.
template <class Info>
std::vector<std::string> names_in(hid_t file, const Location& location, const auto& iterate) {
  const Handle object = open_object(file, location);
  std::vector<std::string> names;
  const auto visit = [](hid_t, const char* name, const Info*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  if (iterate(object.get(), visit, &names) < 0) throw_failure("read", location);
  std::sort(names.begin(), names.end());
  return names;
}

/// Creates the missing groups above `location`.
void make_groups_above(hid_t file, const Location& location) {
  for (std::size_t end = location.path.find('/', 1); end != std::string::npos; end = location.path.find('/', end + 1)) {
    const std::string step = location.path.substr(0, end);
    if (H5Lexists(file, step.c_str(), H5P_DEFAULT) <= 0) create_group(file, step, location);
  }
}

/// Reserves all bytes of the dataset, so that the parts of a list can be written in any order.
Handle create_dataset(hid_t file, const Location& location, hid_t type, const std::vector<hsize_t>& extents) {
  const Handle space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose);
  make_groups_above(file, location);
  const Handle creation = without_times(H5P_DATASET_CREATE);
  H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER);
  Handle dataset(H5Dcreate2(file, location.path.c_str(), type, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
                 H5Dclose);
  if (!dataset.ok())
    throw_failure("write", location);  // must come before the other handles are closed: that clears the reason
  return dataset;
}

/// Writes an attribute with one value, and replaces an existing one. A missing object is created as a group.
void write_scalar(hid_t file, const Location& location, const std::string& attribute, hid_t type, const void* value) {
  Handle object = find_object(file, location);
  if (!object.ok()) {
    make_groups_above(file, location);
    object = create_group(file, location.path, location);
  }
  if (H5Aexists(object.get(), attribute.c_str()) > 0) H5Adelete(object.get(), attribute.c_str());
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  Handle handle(H5Acreate2(object.get(), attribute.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (!handle.ok() || H5Awrite(handle.get(), type, value) < 0 || !handle.close()) throw_failure("write", location);
}

/// The type in files and in memory (content.cpp requires a machine that is little-endian, as the files are), and its
/// name.
template <Number T>
std::pair<hid_t, const char*> named_type() {
  if constexpr (std::same_as<T, float>) return {H5T_IEEE_F32LE, "float32"};
  if constexpr (std::same_as<T, double>) return {H5T_IEEE_F64LE, "float64"};
  if constexpr (std::same_as<T, std::uint8_t>) return {H5T_STD_U8LE, "uint8"};
  if constexpr (std::same_as<T, std::uint32_t>) return {H5T_STD_U32LE, "uint32"};
  if constexpr (std::same_as<T, std::uint64_t>) return {H5T_STD_U64LE, "uint64"};
  if constexpr (std::same_as<T, std::int64_t>) return {H5T_STD_I64LE, "int64"};
}
template <Number T>
hid_t type_of() {
  return named_type<T>().first;
}

/// Opens a dataset of numbers of type T. Throws Error for another type.
template <Number T>
Dataset open_numbers(hid_t file, const Location& location) {
  Dataset dataset = open_dataset(file, location);
  if (dataset.type != type_of<T>()) throw_mismatch(location, "values of another type", named_type<T>().second);
  return dataset;
}

/// Opens a list. Throws Error unless it has elements [first, first + count).
template <Number T>
Dataset open_list(hid_t file, const Location& location, std::uint64_t first, std::uint64_t count) {
  Dataset list = open_numbers<T>(file, location);
  if (list.shape.size() != 1) throw_mismatch(location, "an array of shape " + shape_text(list.shape), "a list");
  if (first > list.shape[0] || count > list.shape[0] - first)
    throw_mismatch(location, fmt::format("{} values", list.shape[0]), fmt::format("at least {} + {}", first, count));
  return list;
}

/// Calls transfer(memory, part) with the dataspaces of `values` and of the elements of the dataset that they stand for:
/// all of a matrix, or the elements of a list from `first` on. REQUIRES: it has them.
template <class T, class Transfer>
void transfer_part(const Dataset& dataset, const Location& location, const char* act, std::uint64_t first,
                   const MatrixView<T>& values, const Transfer& transfer) {
  if (values.rows == 0 || values.cols == 0) return;
  const std::array<hsize_t, 2> whole{values.rows, values.stride}, corner{0, 0}, used{values.rows, values.cols};
  const Handle memory(H5Screate_simple(2, whole.data(), nullptr), H5Sclose);
  const Handle part(H5Dget_space(dataset.handle.get()), H5Sclose);
  const hsize_t start = first, count = values.cols;
  if (H5Sselect_hyperslab(memory.get(), H5S_SELECT_SET, corner.data(), nullptr, used.data(), nullptr) < 0 ||
      (dataset.shape.size() == 1 &&
       H5Sselect_hyperslab(part.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr) < 0) ||
      transfer(memory.get(), part.get()) < 0) {
    throw_failure(act, location);
  }
}

template <Number T>
void read_part(const Dataset& dataset, const Location& location, std::uint64_t first, MatrixView<T> values) {
  transfer_part(dataset, location, "read", first, values, [&](hid_t memory, hid_t part) {
    return H5Dread(dataset.handle.get(), dataset.type, memory, part, H5P_DEFAULT, values.data);
  });
}

template <Number T>
void write_part(Dataset dataset, const Location& location, std::uint64_t first, ConstMatrixView<T> values) {
  transfer_part(dataset, location, "write", first, values, [&](hid_t memory, hid_t part) {
    return H5Dwrite(dataset.handle.get(), dataset.type, memory, part, H5P_DEFAULT, values.data);
  });
  if (!dataset.handle.close()) throw_failure("write", location);
}

/// A whole dataset of exactly the shape `expected`, else throws Error.
template <Number T>
void read_all(hid_t file, const Location& location, MatrixView<T> values, const std::vector<std::uint64_t>& expected) {
  const Dataset dataset = open_numbers<T>(file, location);
  if (dataset.shape != expected)
    throw_mismatch(location, "an array of shape " + shape_text(dataset.shape), shape_text(expected));
  read_part(dataset, location, 0, values);
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

std::vector<std::string> File::children(const std::string& group) const {
  const Lock lock;
  return names_in<H5L_info_t>(id_, {name_, group}, [](hid_t object, auto visit, void* list) {
    return H5Literate(object, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, visit, list);
  });
}

std::vector<std::uint64_t> File::shape(const std::string& dataset) const {
  const Lock lock;
  return open_dataset(id_, {name_, dataset}).shape;
}

template <Number T>
void File::write(const std::string& dataset, std::span<const T> values) {
  create_list<T>(dataset, values.size());
  write_range<T>(dataset, 0, values);
}

template <Number T>
void File::write(const std::string& dataset, ConstMatrixView<T> values) {
  const Lock lock;
  const Location location{name_, dataset};
  write_part<T>({create_dataset(id_, location, type_of<T>(), {values.rows, values.cols}),
                 type_of<T>(),
                 {values.rows, values.cols}},
                location, 0, values);
}

template <Number T>
void File::create_list(const std::string& dataset, std::uint64_t size) {
  const Lock lock;
  const Location location{name_, dataset};
  if (!create_dataset(id_, location, type_of<T>(), {size}).close()) throw_failure("write", location);
}

template <Number T>
void File::write_range(const std::string& dataset, std::uint64_t first, std::span<const T> values) {
  const Lock lock;
  const Location location{name_, dataset};
  write_part<T>(open_list<T>(id_, location, first, values.size()), location, first,
                ConstMatrixView<T>(values.data(), 1, values.size()));
}

void File::write_texts(const std::string& group, std::span<const std::string> texts) {
  std::string bytes;
  std::vector<std::uint64_t> offset{0};
  for (const std::string& text : texts) offset.push_back((bytes += text).size());
  write<std::uint8_t>(group + "/bytes", std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
  write<std::uint64_t>(group + "/offset", offset);
}

template <Number T>
std::vector<T> File::read(const std::string& dataset) const {
  const Lock lock;
  const Location location{name_, dataset};
  const Dataset list = open_list<T>(id_, location, 0, 0);
  std::vector<T> values(list.shape[0]);
  read_part(list, location, 0, MatrixView<T>(values.data(), 1, values.size()));
  return values;
}

template <Number T>
std::vector<T> File::read_range(const std::string& dataset, std::uint64_t first, std::uint64_t count) const {
  const Lock lock;
  const Location location{name_, dataset};
  const Dataset list = open_list<T>(id_, location, first, count);
  std::vector<T> values(count);
  read_part(list, location, first, MatrixView<T>(values.data(), 1, count));
  return values;
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

std::vector<std::string> File::read_texts(const std::string& group) const {
  const auto bytes = read<std::uint8_t>(group + "/bytes");
  const auto offset = read<std::uint64_t>(group + "/offset");
  const Location location{name_, group};
  if (offset.empty() || offset.front() != 0 || offset.back() != bytes.size() ||
      !std::is_sorted(offset.begin(), offset.end())) {
    throw_mismatch(location, "offsets that do not divide its bytes",
                   fmt::format("ascending ones from 0 to {}", bytes.size()));
  }
  if (std::find(bytes.begin(), bytes.end(), 0) != bytes.end()) throw_mismatch(location, "a NUL byte", "text");
  std::vector<std::string> texts(offset.size() - 1);
  for (std::size_t i = 0; i < texts.size(); ++i)
    texts[i].assign(reinterpret_cast<const char*>(bytes.data()) + offset[i], offset[i + 1] - offset[i]);
  return texts;
}

void File::write_attribute(const std::string& object, const std::string& attribute, std::string_view text) {
  const Lock lock;
  const std::string value(text.empty() ? std::string_view("\0", 1) : text);  // HDF5 has no texts of 0 bytes
  write_scalar(id_, {name_, object}, attribute, text_type(value.size()).get(), value.data());
}

template <Number T>
void File::write_number(const std::string& object, const std::string& attribute, T value) {
  const Lock lock;
  write_scalar(id_, {name_, object}, attribute, type_of<T>(), &value);
}

template <Number T>
T File::attribute(const std::string& object, const std::string& attribute) const {
  const Lock lock;
  const Location location{name_, object};
  const Handle handle = open_attribute(id_, location, attribute, std::floating_point<T> ? H5T_FLOAT : H5T_INTEGER);
  T value{};
  if (H5Aread(handle.get(), type_of<T>(), &value) < 0) throw_failure("read", location);
  return value;
}

bool File::has_attribute(const std::string& object, const std::string& attribute) const {
  const Lock lock;
  const Handle handle = find_object(id_, {name_, object});
  return handle.ok() && H5Aexists(handle.get(), attribute.c_str()) > 0;
}

std::vector<std::string> File::attributes(const std::string& object) const {
  const Lock lock;
  return names_in<H5A_info_t>(id_, {name_, object}, [](hid_t id, auto visit, void* list) {
    return H5Aiterate2(id, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, visit, list);
  });
}

std::string File::text_attribute(const std::string& object, const std::string& attribute) const {
  const Lock lock;
  const Location location{name_, object};
  const Handle handle = open_attribute(id_, location, attribute, H5T_STRING);
  const Handle type(H5Aget_type(handle.get()), H5Tclose);
  std::string text(H5Tget_size(type.get()), '\0');
  if (H5Aread(handle.get(), type.get(), text.data()) < 0) throw_failure("read", location);
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

#define RNNSEARCH_INSTANTIATE(T)                                                                       \
  template void File::write<T>(const std::string&, std::span<const T>);                                \
  template void File::write<T>(const std::string&, ConstMatrixView<T>);                                \
  template void File::create_list<T>(const std::string&, std::uint64_t);                               \
  template void File::write_range<T>(const std::string&, std::uint64_t, std::span<const T>);           \
  template std::vector<T> File::read<T>(const std::string&) const;                                     \
  template std::vector<T> File::read_range<T>(const std::string&, std::uint64_t, std::uint64_t) const; \
  template void File::read_into<T>(const std::string&, std::span<T>) const;                            \
  template void File::read_into<T>(const std::string&, MatrixView<T>) const;                           \
  template void File::write_number<T>(const std::string&, const std::string&, T);                      \
  template T File::attribute<T>(const std::string&, const std::string&) const;
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
