#include "tests/fuzz/hostile_file.h"

#include <hdf5.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "rnnsearch/base/file.h"
#include "rnnsearch/storage/sealed_file.h"
#include "tests/support/change_sealed.h"

namespace rnnsearch::fuzz {
namespace {

class Handle {  // closes whatever it is
 public:
  explicit Handle(hid_t id) : id_(id) {}
  ~Handle() {
    if (id_ >= 0) H5Idec_ref(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }  // NOLINT: it stands where an id does

 private:
  hid_t id_;
};

/// Texts that mean something in these files, or any.
std::string some_text(Input& input) {
  static const char* const kTexts[] = {
      "",     "0", "-1", "nan", "1e9", "18446744073709551615", "<s>",           "words", "gru", "all", "true", "a b",
      "none", "1", "2",  "a\n", "\t",  "4294967296",           "source-target", "dot"};
  const std::uint8_t kind = input.byte();
  if (kind < std::size(kTexts)) return kTexts[kind];
  return std::string(input.take(kind % 32));
}

double some_double(Input& input) {
  using Limits = std::numeric_limits<double>;
  constexpr double kDoubles[] = {
      0, -1, Limits::quiet_NaN(), Limits::infinity(), Limits::max(), -0.0, Limits::denorm_min()};
  const std::uint8_t kind = input.byte();
  return kind < std::size(kDoubles) ? kDoubles[kind] : std::bit_cast<double>(input.integer(8));
}

hid_t some_type(Input& input) {
  switch (input.below(9)) {
    case 0:
      return H5Tcopy(H5T_IEEE_F32LE);
    case 1:
      return H5Tcopy(H5T_IEEE_F64LE);
    case 2:
      return H5Tcopy(H5T_STD_U8LE);
    case 3:
      return H5Tcopy(H5T_STD_U32LE);
    case 4:
      return H5Tcopy(H5T_STD_U64LE);
    case 5:
      return H5Tcopy(H5T_STD_I64BE);
    case 6: {  // texts of a fixed width
      const hid_t type = H5Tcopy(H5T_C_S1);
      H5Tset_size(type, 1 + input.below(20));
      return type;
    }
    case 7: {
      const hid_t type = H5Tcopy(H5T_C_S1);
      H5Tset_size(type, H5T_VARIABLE);
      return type;
    }
    default:
      return H5Tcreate(H5T_COMPOUND, 8);
  }
}

Handle some_space(Input& input, unsigned most_dimensions) {
  const auto rank = static_cast<int>(input.below(most_dimensions + 1));
  if (rank == 0) return Handle(H5Screate(input.byte() & 1 ? H5S_NULL : H5S_SCALAR));
  hsize_t extents[4] = {};
  for (int i = 0; i < rank; ++i) extents[i] = input.number();
  return Handle(H5Screate_simple(rank, extents, nullptr));
}

void set_attribute(hid_t object, const std::string& name, hid_t type, hid_t space, const void* value) {
  if (H5Aexists(object, name.c_str()) > 0) H5Adelete(object, name.c_str());
  const Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
  if (value) H5Awrite(attribute, type, value);
}

void change_attribute(hid_t object, const std::string& name, Input& input) {
  const Handle scalar(H5Screate(H5S_SCALAR));
  switch (input.below(6)) {
    case 0: {
      const Handle type(H5Tcopy(H5T_C_S1));
      const std::string text = some_text(input);
      const char* pointer = text.c_str();
      const bool is_ours = input.byte() < 224;
      H5Tset_size(type, is_ours ? text.size() + 1 : H5T_VARIABLE);
      H5Tset_cset(type, H5T_CSET_UTF8);
      if (is_ours) H5Tset_strpad(type, H5T_STR_NULLPAD);
      return set_attribute(object, name, type, scalar, is_ours ? static_cast<const void*>(pointer) : &pointer);
    }
    case 1: {
      const std::uint64_t value = input.number();
      return set_attribute(object, name, input.byte() & 1 ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, scalar, &value);
    }
    case 2: {
      const double value = some_double(input);
      return set_attribute(object, name, H5T_NATIVE_DOUBLE, scalar, &value);
    }
    case 3:
      H5Adelete(object, name.c_str());
      return;
    case 4: {  // never written
      const Handle type(some_type(input));
      return set_attribute(object, name, type, scalar, nullptr);
    }
    default: {
      const hsize_t extent = input.below(5);
      const Handle type(some_type(input)), space(H5Screate_simple(1, &extent, nullptr));
      return set_attribute(object, name, type, space, nullptr);
    }
  }
}

void change_element(hid_t dataset, Input& input) {
  const Handle space(H5Dget_space(dataset)), type(H5Dget_type(dataset));
  const int rank = H5Sget_simple_extent_ndims(space);
  // HDF5 itself may crash when it allocates an array of any extent.
  if (rank < 1 || rank > 4 || H5Dget_storage_size(dataset) == 0) return;
  hsize_t extents[4] = {}, at[4] = {};
  H5Sget_simple_extent_dims(space, extents, nullptr);
  for (int i = 0; i < rank; ++i) {
    if (extents[i] == 0) return;
    at[i] = input.integer(2) % extents[i];
  }
  H5Sselect_elements(space, H5S_SELECT_SET, 1, at);
  const Handle one(H5Screate(H5S_SCALAR));
  switch (H5Tget_class(type)) {
    case H5T_INTEGER: {
      const std::uint64_t value = input.number();
      H5Dwrite(dataset, H5T_NATIVE_UINT64, one, space, H5P_DEFAULT, &value);
      break;
    }
    case H5T_FLOAT: {
      const double value = some_double(input);
      H5Dwrite(dataset, H5T_NATIVE_DOUBLE, one, space, H5P_DEFAULT, &value);
      break;
    }
    default:
      return;
  }
}

/// In its place another, which nothing was written to.
void replace_dataset(hid_t file, const std::string& path, hid_t type, hid_t space, Input& input) {
  H5Ldelete(file, path.c_str(), H5P_DEFAULT);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE));
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank > 0 && input.byte() & 1) {
    // HDF5 would walk over every chunk that there might be once the dataset is replaced in its turn.
    hsize_t chunk[4] = {};
    H5Sget_simple_extent_dims(space, chunk, nullptr);
    const hsize_t parts = 1 + input.below(100);
    for (int i = 0; i < rank; ++i) chunk[i] = chunk[i] / parts + 1;
    H5Pset_chunk(creation, rank, chunk);
  } else {
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_LATE);
  }
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  const Handle dataset(H5Dcreate2(file, path.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT));
}

/// The same numbers in chunks, perhaps packed by filters.
void repack(hid_t file, const std::string& path, Input& input) {
  const Handle dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT));
  const Handle type(H5Dget_type(dataset)), space(H5Dget_space(dataset)), creation(H5Pcreate(H5P_DATASET_CREATE));
  const int rank = H5Sget_simple_extent_ndims(space);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (rank < 1 || rank > 2 || count < 1 || count > 10'000 || H5Tget_class(type) == H5T_STRING) return;
  std::string values(static_cast<std::size_t>(count) * H5Tget_size(type), '\0');
  if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) return;
  hsize_t chunk[2] = {};
  H5Sget_simple_extent_dims(space, chunk, nullptr);
  for (int i = 0; i < rank; ++i) chunk[i] = 1 + input.integer(1) % chunk[i];
  H5Pset_chunk(creation, rank, chunk);
  for (std::size_t i = 0, filters = input.below(4); i < filters; ++i) {
    switch (input.below(i == 0 ? 4 : 3)) {
      case 0:
        H5Pset_shuffle(creation);
        break;
      case 1:
        H5Pset_deflate(creation, 1);
        break;
      case 2:
        H5Pset_fletcher32(creation);
        break;
      default:  // behind another filter HDF5 itself could crash
        H5Pset_scaleoffset(creation, H5Z_SO_INT, 0);
    }
  }
  H5Ldelete(file, path.c_str(), H5P_DEFAULT);
  const Handle packed(H5Dcreate2(file, path.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  H5Dwrite(packed, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
}

void set_bytes(std::string& bytes, std::uint8_t count, Input& input) {
  for (std::uint8_t i = 0; i < count && !input.empty(); ++i) {
    const std::size_t at = input.integer(4) % bytes.size();
    bytes[at] = static_cast<char>(input.byte());
  }
}

}  // namespace

HostileFile::HostileFile(const std::filesystem::path& good) : payload_(read_file(good)) {
  payload_.resize(payload_.size() - storage::kSealBytes);
  const storage::File file = storage::File::open(good);
  const auto is_group = [&](const std::string& path) { return !accepted([&] { file.shape(path); }); };
  objects_.push_back({"/", true, file.attributes("/")});
  for (std::size_t i = 0; i < objects_.size(); ++i) {  // grows
    if (!objects_[i].is_group) continue;
    const std::string above = objects_[i].path == "/" ? "/" : objects_[i].path + "/";
    for (const std::string& name : file.children(objects_[i].path)) {
      const std::string path = above + name;
      objects_.push_back({path, is_group(path), file.attributes(path)});
    }
  }
}

void HostileFile::change(std::int64_t file, Input& input) const {
  const Object& object = objects_[input.below(objects_.size())];
  const Object& other = objects_[input.below(objects_.size())];
  const std::uint8_t kind = input.byte();
  const char* const path = object.path.c_str();
  if (!object.attributes.empty() && kind >= 128) {
    const Handle handle(H5Oopen(file, path, H5P_DEFAULT));
    return change_attribute(handle, object.attributes[input.below(object.attributes.size())], input);
  }
  if (object.path == "/") return;
  const bool is_dataset = !object.is_group && H5Lexists(file, path, H5P_DEFAULT) > 0;
  const Handle dataset(is_dataset ? H5Dopen2(file, path, H5P_DEFAULT) : H5I_INVALID_HID);
  switch (kind % 12) {
    case 0:
    case 1:
    case 2:
      if (dataset >= 0) change_element(dataset, input);
      return;
    case 3: {
      if (dataset < 0) return;
      const Handle type(H5Dget_type(dataset)), space(H5Screate(H5S_NULL));
      return replace_dataset(file, object.path, type, some_space(input, 3), input);
    }
    case 4: {
      if (dataset < 0) return;
      const Handle type(some_type(input)), space(H5Dget_space(dataset));
      return replace_dataset(file, object.path, type, space, input);
    }
    case 5:
      H5Ldelete(file, path, H5P_DEFAULT);
      return;
    case 6:
      H5Ldelete(file, path, H5P_DEFAULT);
      if (input.byte() & 1) {
        H5Lcreate_soft(other.path.c_str(), file, path, H5P_DEFAULT, H5P_DEFAULT);
      } else {
        H5Lcreate_hard(file, other.path.c_str(), file, path, H5P_DEFAULT, H5P_DEFAULT);
      }
      return;
    case 7:
    case 8:
      if (dataset >= 0) repack(file, object.path, input);
      return;
    default: {
      if (dataset >= 0) {
        const hsize_t extent = input.number() % (1 << 12);
        H5Dset_extent(dataset, &extent);  // of an array in chunks
        return;
      }
      const std::string name = object.path + "/" + some_text(input);
      const Handle group(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
  }
}

HostileFile::Kind HostileFile::write(const std::filesystem::path& path, Input& input) const {
  Kind kind = Kind::kGood;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << payload_;
  if (const std::uint8_t changes = input.byte() % 8; changes > 0) {
    kind = Kind::kChanged;
    support::change_file(path, [&](hid_t file) {
      for (std::uint8_t i = 0; i < changes; ++i) change(file, input);
    });
    // An extent can make a file of gigabytes, nearly all of it holes: to seal it takes minutes, and finds nothing.
    constexpr std::uintmax_t kMostBytes = 64 << 20;
    if (std::filesystem::file_size(path) > kMostBytes) {
      kind = Kind::kGood;
      std::ofstream(path, std::ios::binary | std::ios::trunc) << payload_;
    }
  }
  if (const std::uint8_t count = input.byte() % 16; count > 0) {
    kind = Kind::kChanged;
    std::string bytes = read_file(path);
    set_bytes(bytes, count, input);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  storage::seal(path);
  if (const std::uint8_t count = input.byte() % 16; count > 0) {
    const std::string sealed = read_file(path);
    std::string bytes = sealed;
    set_bytes(bytes, count, input);
    if (input.byte() & 1) bytes.resize(input.integer(4) % bytes.size());
    if (bytes != sealed) kind = Kind::kBrokenSeal;
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  return kind;
}

}  // namespace rnnsearch::fuzz
