#include "storage/content.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "rnnsearch/base/error.h"
#include "storage/text_references.h"

namespace rnnsearch::storage {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as the file holds them");
constexpr std::size_t kChecksumBytes = 4;

void refuse_filters(hid_t group, const Place& place) {
  const Handle creation(H5Gget_create_plist(group), H5Pclose);
  if (H5Pget_nfilters(creation.get()) != 0) unlike(place, "a group packed by filters", "one without");
}

/// Throws Error if the dataset may grow, but not in every dimension or only up to some length: HDF5 would then not
/// count its chunks by its shape, and it does not check their indices.
std::vector<std::uint64_t> shape_of(hid_t dataset, const Place& place) {
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 0) cannot("read", place);
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank)), limits(extents);
  if (rank > 0) H5Sget_simple_extent_dims(space.get(), extents.data(), limits.data());
  if (limits != extents && limits != std::vector(extents.size(), H5S_UNLIMITED))
    unlike(place, "an array that may grow in part", "one that may grow or not");
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

[[noreturn]] void refuse_unwritten(const Place& place, std::span<const std::uint64_t> shape) {
  unlike(place, fmt::format("an array of shape {} that was not written completely", shape_text(shape)),
         "a complete array");
}

/// Checks the chunks and filters, and sets `chunk` and `is_compressed`.
void check_packing(Dataset& dataset, hid_t creation, const Place& place) {
  if (H5Pget_layout(creation) != H5D_CHUNKED)
    unlike(place, "numbers in one piece or in other files", "a chunked array");
  dataset.chunk.resize(dataset.shape.size());
  const int rank = static_cast<int>(dataset.chunk.size());
  unsigned options = 0;
  if (H5Pget_chunk(creation, rank, dataset.chunk.data()) != rank || H5Pget_chunk_opts(creation, &options) < 0 ||
      options != 0) {
    unlike(place, "chunks of different kinds", "chunks of one size");
  }
  std::uint64_t room = kMostChunkBytes / dataset.element_bytes;
  for (const hsize_t length : dataset.chunk) room = length == 0 ? 0 : room / length;
  if (room == 0) {
    unlike(place,
           fmt::format("chunks of {} numbers",
                       shape_text(std::vector<std::uint64_t>(dataset.chunk.begin(), dataset.chunk.end()))),
           fmt::format("at least one number and at most {} bytes in a chunk", kMostChunkBytes));
  }
  std::vector<H5Z_filter_t> filters;
  unsigned shuffled_bytes = 0;  // bytes of an element, as given to the shuffle filter
  for (int i = 0; i < H5Pget_nfilters(creation); ++i) {
    unsigned flags = 0, value = 0;
    std::size_t values = 1;
    filters.push_back(H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &values, &value, 0, nullptr, nullptr));
    if (i == 0 && values == 1) shuffled_bytes = value;
  }
  dataset.is_compressed = filters == std::vector{H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE, H5Z_FILTER_FLETCHER32} &&
                          shuffled_bytes == dataset.element_bytes;
  if (!dataset.is_compressed && filters != std::vector{H5Z_FILTER_FLETCHER32}) {
    unlike(place, "numbers packed by other filters", "Fletcher32 alone, or shuffle, deflate and Fletcher32");
  }
}

/// Checks that the whole shape was written, because HDF5 would return fill values for missing chunks.
void check_extent(hid_t file, const Dataset& dataset, const Place& place) {
  if (std::find(dataset.shape.begin(), dataset.shape.end(), 0) != dataset.shape.end()) return;
  hsize_t file_bytes = 0, written = 0, expected = 1;
  H5Fget_filesize(file, &file_bytes);
  constexpr std::uint64_t kMostDeflated = 1032;  // maximum ratio of the deflate format
  const std::uint64_t stored = std::min(H5Dget_storage_size(dataset.handle.get()), file_bytes);
  std::uint64_t room = stored * (dataset.is_compressed ? kMostDeflated : 1) / dataset.element_bytes;
  for (std::size_t i = 0; i < dataset.shape.size(); ++i) {
    room /= dataset.shape[i];
    const hsize_t pieces = dataset.shape[i] / dataset.chunk[i] + (dataset.shape[i] % dataset.chunk[i] != 0);
    if (room == 0 || expected > std::numeric_limits<hsize_t>::max() / pieces) refuse_unwritten(place, dataset.shape);
    expected *= pieces;
  }
  const Handle space(H5Dget_space(dataset.handle.get()), H5Sclose);
  if (H5Dget_num_chunks(dataset.handle.get(), space.get(), &written) < 0 || written != expected)
    refuse_unwritten(place, dataset.shape);
}

/// As H5_checksum_fletcher32 computes it: sums of big-endian pairs of bytes, modulo 65535.
std::uint32_t fletcher32(std::span<const Bytef> bytes) {
  constexpr std::size_t kMostPairs = 360;  // pairs that can be added before the sums could overflow
  std::uint32_t first = 0, second = 0;
  const auto reduce = [&] {
    first = (first & 0xffff) + (first >> 16);
    second = (second & 0xffff) + (second >> 16);
  };
  while (bytes.size() > 1) {
    const std::size_t pairs = std::min(bytes.size() / 2, kMostPairs);
    for (std::size_t i = 0; i < pairs; ++i) {
      first += static_cast<std::uint32_t>(bytes[2 * i] << 8 | bytes[2 * i + 1]);
      second += first;
    }
    reduce();
    bytes = bytes.subspan(2 * pairs);
  }
  if (!bytes.empty()) {
    first += static_cast<std::uint32_t>(bytes[0] << 8);
    second += first;
    reduce();
  }
  reduce();
  return second << 16 | first;
}

/// Undoes the shuffle filter, which stores all first bytes of the numbers, then all second bytes, and so on.
template <std::size_t kBytes>
void unshuffle(const Bytef* from, Bytef* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < kBytes; ++k) to[i * kBytes + k] = from[k * count + i];
  }
}

/// Reads one chunk at a time into memory that is reused for the next one.
class ChunkReader {
 public:
  ChunkReader(const Dataset& dataset, const Place& place) : dataset_(dataset), place_(place) {
    std::size_t bytes = dataset.element_bytes;
    for (const hsize_t length : dataset.chunk) bytes *= length;
    chunk_.resize(bytes);
    if (dataset.is_compressed) inflated_.resize(bytes);
  }

  /// corner: the coordinates of its first element.
  const Bytef* read(const hsize_t* corner) {
    hsize_t bytes = 0;
    if (H5Dget_chunk_storage_size(dataset_.handle.get(), corner, &bytes) < 0) cannot("read", place_);
    if (bytes < kChecksumBytes || bytes > compressBound(chunk_.size()) + kChecksumBytes)
      unlike(place_, fmt::format("a chunk of {} bytes", bytes),
             fmt::format("at most {} and a checksum", chunk_.size()));
    stored_.resize(bytes);
    std::uint32_t skipped_filters = 0, checksum = 0;
    if (H5Dread_chunk(dataset_.handle.get(), H5P_DEFAULT, corner, &skipped_filters, stored_.data()) < 0)
      cannot("read", place_);
    if (skipped_filters != 0) unlike(place_, "a chunk that skips a filter", "a chunk that uses all filters");
    const std::span packed(stored_.data(), bytes - kChecksumBytes);
    std::memcpy(&checksum, packed.data() + packed.size(), sizeof checksum);
    if (checksum != fletcher32(packed)) {
      throw Error(
          "cannot read {} at {}: a Fletcher32 checksum does not match, so the file is damaged; make it again or use "
          "another copy",
          place_.file, place_.path);
    }
    unpack(packed);
    return chunk_.data();
  }

 private:
  void unpack(std::span<const Bytef> packed) {
    bool is_whole = packed.size() == chunk_.size();
    if (dataset_.is_compressed) {
      uLongf bytes = inflated_.size();
      uLong used = packed.size();
      const int status = uncompress2(inflated_.data(), &bytes, packed.data(), &used);
      if (status == Z_MEM_ERROR) throw std::bad_alloc();
      is_whole = status == Z_OK && bytes == chunk_.size() && used == packed.size();
    }
    if (!is_whole)
      unlike(place_, fmt::format("a chunk that does not unpack to {} bytes", chunk_.size()), "a chunk of that size");
    const std::size_t count = chunk_.size() / dataset_.element_bytes;
    if (!dataset_.is_compressed) {
      std::copy(packed.begin(), packed.end(), chunk_.begin());
    } else if (dataset_.element_bytes == 8) {
      unshuffle<8>(inflated_.data(), chunk_.data(), count);
    } else if (dataset_.element_bytes == 4) {
      unshuffle<4>(inflated_.data(), chunk_.data(), count);
    } else {
      unshuffle<1>(inflated_.data(), chunk_.data(), count);
    }
  }

  const Dataset& dataset_;
  const Place& place_;
  std::vector<Bytef> stored_, inflated_, chunk_;
};

}  // namespace

void cannot(const char* act, const Place& place) {
  throw Error("cannot {} {} at {}: {}", act, place.file, place.path, reason());
}

void unlike(const Place& place, const std::string& found, const std::string& expected) {
  throw Error(
      "{} at {} holds {} where {} was expected; the file was written by another program or another version of this one",
      place.file, place.path, found, expected);
}

std::string shape_text(std::span<const std::uint64_t> shape) {
  std::string text = "[";
  for (const std::uint64_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

Handle text_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

Handle find_object(hid_t file, const Place& place) {
  Handle object(H5Gopen2(file, "/", H5P_DEFAULT), H5Oclose);
  if (object.ok()) refuse_filters(object.get(), place);
  for (std::size_t begin = 1; object.ok() && begin < place.path.size();) {
    const std::size_t end = std::min(place.path.find('/', begin), place.path.size());
    const std::string name = place.path.substr(begin, end - begin);
    begin = end + 1;
    H5L_info_t link;
    if (H5Iget_type(object.get()) != H5I_GROUP || H5Lexists(object.get(), name.c_str(), H5P_DEFAULT) <= 0 ||
        H5Lget_info(object.get(), name.c_str(), &link, H5P_DEFAULT) < 0) {
      return Handle(H5I_INVALID_HID, H5Oclose);
    }
    if (link.type != H5L_TYPE_HARD) unlike(place, "a symbolic or external link", "a hard link");
    Handle next(H5Oopen(object.get(), name.c_str(), H5P_DEFAULT), H5Oclose);
    if (!next.ok()) cannot("read", place);  // must come before the group is closed, which would clear the reason
    object = std::move(next);
    if (H5Iget_type(object.get()) == H5I_GROUP) refuse_filters(object.get(), place);
  }
  return object;
}

Handle open_object(hid_t file, const Place& place) {
  Handle object = find_object(file, place);
  if (!object.ok()) throw Error("cannot read {} at {}: there is no such object", place.file, place.path);
  return object;
}

Dataset open_dataset(hid_t file, const Place& place) {
  Dataset dataset{open_object(file, place), H5I_INVALID_HID, 0, {}, {}, false};
  const hid_t id = dataset.handle.get();
  if (H5Iget_type(id) != H5I_DATASET) unlike(place, "an object of another kind", "an array");
  const Handle type(H5Dget_type(id), H5Tclose), texts = text_type();
  dataset.shape = shape_of(id, place);
  const std::size_t rank = dataset.shape.size();
  if (H5Tequal(type.get(), texts.get()) > 0) {
    // H5Dget_create_plist is not called for texts, because it converts the fill value, which for texts follows an
    // unchecked reference. Texts that this program wrote are contiguous.
    if (rank != 1) unlike(place, "an array of shape " + shape_text(dataset.shape), "a list");
    const std::uint64_t bytes = H5Dget_offset(id) == HADDR_UNDEF ? 0 : H5Dget_storage_size(id);
    if (bytes % kReferenceBytes != 0 || bytes / kReferenceBytes != dataset.shape[0])
      refuse_unwritten(place, dataset.shape);
    return dataset;
  }
  dataset.type = number_type(type.get());
  if (dataset.type < 0) unlike(place, "values of another type", "numbers or texts");
  dataset.element_bytes = H5Tget_size(dataset.type);
  if (rank != 1 && rank != 2) unlike(place, "an array of shape " + shape_text(dataset.shape), "a list or a matrix");
  const Handle creation(H5Dget_create_plist(id), H5Pclose);
  check_packing(dataset, creation.get(), place);
  check_extent(file, dataset, place);
  return dataset;
}

void read_numbers(const Dataset& dataset, const Place& place, std::uint64_t first_column,
                  MatrixView<std::byte> values) {
  const bool is_list = dataset.shape.size() == 1;
  const std::size_t bytes = dataset.element_bytes, cols = values.cols / bytes;
  const std::uint64_t chunk_rows = is_list ? 1 : dataset.chunk[0], chunk_cols = dataset.chunk.back();
  const std::uint64_t end_column = first_column + cols;
  if (values.rows == 0 || cols == 0) return;
  ChunkReader chunks(dataset, place);
  for (std::uint64_t row = 0; row < values.rows; row += chunk_rows) {
    for (std::uint64_t col = first_column / chunk_cols * chunk_cols; col < end_column; col += chunk_cols) {
      const std::array<hsize_t, 2> corner{row, col};
      const Bytef* chunk = chunks.read(corner.data() + (is_list ? 1 : 0));
      const std::uint64_t from = std::max(first_column, col), to = std::min(end_column, col + chunk_cols);
      const std::uint64_t end_row = std::min<std::uint64_t>(values.rows, row + chunk_rows);
      for (std::uint64_t i = row; i < end_row; ++i) {
        std::memcpy(values.row(i) + (from - first_column) * bytes,
                    chunk + ((i - row) * chunk_cols + from - col) * bytes, (to - from) * bytes);
      }
    }
  }
}

Handle open_attribute(hid_t file, const Place& place, const std::string& attribute, H5T_class_t type_class) {
  const Handle object = open_object(file, place);
  if (H5Aexists(object.get(), attribute.c_str()) <= 0) unlike(place, "no attribute", "'" + attribute + "'");
  Handle handle(H5Aopen(object.get(), attribute.c_str(), H5P_DEFAULT), H5Aclose);
  if (!handle.ok()) cannot("read", place);
  const Handle type(H5Aget_type(handle.get()), H5Tclose), space(H5Aget_space(handle.get()), H5Sclose);
  const Handle text = text_type();
  const auto is = [&](hid_t known) { return H5Tequal(type.get(), known) > 0; };
  const bool good = type_class == H5T_STRING  ? is(text.get())
                    : type_class == H5T_FLOAT ? is(H5T_IEEE_F64LE)
                                              : is(H5T_STD_I64LE) || is(H5T_STD_U64LE);
  if (!good || H5Sget_simple_extent_type(space.get()) != H5S_SCALAR) {
    unlike(place, "an attribute '" + attribute + "' of another type",
           type_class == H5T_STRING ? "one text" : "one number");
  }
  return handle;
}

}  // namespace rnnsearch::storage
