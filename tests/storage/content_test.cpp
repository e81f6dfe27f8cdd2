#include "storage/content.h"

#include "rnnsearch/base/file.h"
#include "rnnsearch/storage/hdf5.h"
#include "tests/support/change_sealed.h"
#include "tests/support/test.h"

/// HDF5's checksum of its own structures, which its library exports.
extern "C" std::uint32_t H5_checksum_metadata(const void* data, std::size_t bytes, std::uint32_t initial);

namespace rnnsearch::storage {
namespace {

constexpr hsize_t kCount = 1000;
constexpr const char* kPath = "/numbers";

/// A file that HDF5 itself changes, in ways that this program never writes.
class Content : public ScratchTest {
 protected:
  Content() {
    std::iota(numbers_.begin(), numbers_.end(), 7u);
    File file = File::create(path_);
    file.write<std::uint32_t>(kPath, numbers_);
    file.write<std::uint32_t>("/group/inner/numbers", numbers_);
    file.write_attribute("/group", "count", 3);
    file.write_attribute("/group", "share", 0.5);
    file.write_attribute("/group", "name", "three");
    file.close();
  }

  void change(const std::function<void(hid_t)>& act) { ASSERT_GE(support::change_file(path_, act), 0); }

  /// In place of the numbers others: of `type` and `extents`, created as `how` says, and written if `values` is not
  /// null.
  void replace(hid_t type, const std::vector<hsize_t>& extents, const void* values,
               const std::function<void(hid_t)>& how = {}) {
    change([&](hid_t file) {
      H5Ldelete(file, kPath, H5P_DEFAULT);
      const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
      if (how) how(creation);
      const hid_t space = H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr);
      const hid_t dataset = H5Dcreate2(file, kPath, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
      EXPECT_GE(dataset, 0);
      if (values) {
        EXPECT_GE(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
      }
      H5Dclose(dataset);
      H5Sclose(space);
      H5Pclose(creation);
    });
  }
  std::string rewritten(const std::function<void(hid_t)>& how) {
    replace(H5T_STD_U32LE, {kCount}, numbers_.data(), how);
    return refusal();
  }

  std::vector<std::uint32_t> read() const { return File::open(path_).read<std::uint32_t>(kPath); }
  std::string refusal() const {
    return message_of([&] { read(); });
  }

  const std::string path_ = scratch_ / "file.h5";
  std::vector<std::uint32_t> numbers_ = std::vector<std::uint32_t>(kCount);
};

TEST_F(Content, IsReadAsHDF5WritesIt) {
  EXPECT_EQ(rewritten({}), "nothing was thrown");
  EXPECT_EQ(read(), numbers_);
  const File file = File::open(path_);
  for (const std::uint64_t first : {0, 6, 500, 998}) {
    for (const std::uint64_t count : {0, 1, 2}) {
      const auto begin = numbers_.begin() + static_cast<std::ptrdiff_t>(first);
      EXPECT_EQ(file.read_range<std::uint32_t>(kPath, first, count),
                std::vector(begin, begin + static_cast<std::ptrdiff_t>(count)));
    }
  }
}

TEST_F(Content, IsInOnePieceWithoutFilters) {
  const auto refused = HasSubstr("/numbers holds an array in chunks, packed or in other files");
  const auto in_chunks = [](hid_t creation) {
    const hsize_t elements = kCount / 2;
    H5Pset_chunk(creation, 1, &elements);
  };
  EXPECT_THAT(rewritten(in_chunks), refused);
  EXPECT_THAT(message_of([&] { File::open(path_).shape(kPath); }), refused);
  EXPECT_THAT(rewritten([](hid_t creation) { H5Pset_layout(creation, H5D_COMPACT); }), refused);
  EXPECT_THAT(rewritten([&](hid_t creation) {
                in_chunks(creation);
                H5Pset_deflate(creation, 1);
              }),
              refused);
}

TEST_F(Content, HasAllThatItsShapeAsksFor) {
  for (const hsize_t extent : {hsize_t{kCount}, hsize_t{1} << 40, hsize_t{1} << 60}) {
    replace(H5T_STD_U32LE, {extent}, nullptr, [](hid_t creation) { H5Pset_alloc_time(creation, H5D_ALLOC_TIME_LATE); });
    EXPECT_THAT(refusal(), HasSubstr("0 bytes at byte ")) << extent;
  }
  replace(H5T_STD_U32LE, {0}, nullptr);
  EXPECT_TRUE(read().empty());
}

/// The object header of the numbers, with a checksum that is right whatever is written into it.
class Forged : public Content {
 protected:
  Forged() {
    good_ = read_file(path_);
    haddr_t offset = 0;
    change([&](hid_t file) {
      H5O_info_t info;
      H5Oget_info_by_name1(file, kPath, &info, H5P_DEFAULT);
      header_ = info.addr;
      const hid_t dataset = H5Dopen2(file, kPath, H5P_DEFAULT);
      offset = H5Dget_offset(dataset);
      H5Dclose(dataset);
    });
    // HDF5 File Format Specification, version 3.0, IV.A.1.b: "OHDR", version, flags (the low two bits give the width of
    // the next field), the bytes of the messages, the messages, the checksum of all that.
    const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(good_[at])); };
    const std::size_t width = std::size_t{1} << (byte(header_ + 5) & 3);
    EXPECT_EQ(good_.substr(header_, 4), "OHDR");
    EXPECT_EQ(byte(header_ + 5) & 0x30, 0u) << "no times, no phase change";
    EXPECT_LE(width, 2u);
    end_ = header_ + 6 + width + byte(header_ + 6) + (width == 2 ? byte(header_ + 7) << 8 : 0);
    address_ = good_.find(std::string(reinterpret_cast<const char*>(&offset), sizeof offset), header_);
    EXPECT_LT(address_ + 16, end_) << "where address and size of the array are";
    EXPECT_EQ(with({}), "nothing was thrown");
  }

  struct Change {
    std::size_t at;
    std::uint64_t value;
    std::size_t bytes = 8;
  };
  /// What is said of the file with these changes.
  std::string with(const std::vector<Change>& changes) {
    std::string bytes = good_;
    for (const Change& change : changes) std::memcpy(bytes.data() + change.at, &change.value, change.bytes);
    const std::uint32_t checksum = H5_checksum_metadata(bytes.data() + header_, end_ - header_, 0);
    std::memcpy(bytes.data() + end_, &checksum, sizeof checksum);
    write_text(path_, bytes);
    return refusal();
  }

  std::string good_;
  std::size_t header_ = 0, end_ = 0, address_ = 0;
};

TEST_F(Forged, ArrayThatLiesElsewhereThanInTheFileIsRefused) {
  const std::uint64_t end = good_.size(), bytes = 4 * kCount;
  EXPECT_EQ(with({{address_, end - bytes}}), "nothing was thrown");
  for (const std::uint64_t address : {end - bytes + 1, end, std::uint64_t{1} << 40, ~std::uint64_t{0} - bytes,
                                      ~std::uint64_t{0} - 1, ~std::uint64_t{0}}) {
    EXPECT_THAT(with({{address_, address}}), HasSubstr("/numbers")) << address;
    EXPECT_THAT(refusal(), Not(HasSubstr("nothing was thrown"))) << address;
  }
}

TEST_F(Forged, ArrayOfAnotherSizeThanItsShapeIsRefused) {
  const std::uint64_t bytes = 4 * kCount;
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{4}, bytes - 1, bytes + 1, ~std::uint64_t{0}})
    EXPECT_THAT(with({{address_ + 8, size}}), HasSubstr("/numbers")) << size;
  const std::uint64_t extent = kCount;
  const std::size_t shape = good_.find(std::string(reinterpret_cast<const char*>(&extent), sizeof extent), header_);
  ASSERT_LT(shape, end_);
  for (const std::uint64_t count : {kCount - 1, kCount + 1, hsize_t{1} << 40, hsize_t{1} << 62, ~hsize_t{0}}) {
    EXPECT_THAT(with({{shape, count}, {shape + 8, count}}), HasSubstr("/numbers")) << count;
    if (count < good_.size()) continue;
    EXPECT_THAT(with({{shape, count}, {shape + 8, count}, {address_ + 8, 4 * count}}), HasSubstr("/numbers")) << count;
  }
}

TEST_F(Content, IsOfTheTypesAndRanksThatAreWritten) {
  const auto typed = [&](hid_t type, const std::vector<hsize_t>& extents) {
    const std::vector<std::uint64_t> values(16);
    replace(type, extents, values.data());
    return message_of([&] { File::open(path_).shape(kPath); });
  };
  for (const hid_t type : {H5T_STD_U32BE, H5T_STD_I32LE, H5T_STD_U16LE, H5T_IEEE_F64BE, H5T_STD_B32LE, H5T_UNIX_D32LE})
    EXPECT_THAT(typed(type, {4}), HasSubstr("values of another type"));
  EXPECT_THAT(typed(H5T_IEEE_F32LE, {2, 2}), HasSubstr("nothing was thrown"));
  EXPECT_THAT(typed(H5T_IEEE_F32LE, {}), HasSubstr("an array of shape []"));
  EXPECT_THAT(typed(H5T_IEEE_F32LE, {2, 2, 2}), HasSubstr("an array of shape [2, 2, 2]"));
  const Handle fixed = text_type(8), variable = text_type(H5T_VARIABLE);
  EXPECT_THAT(typed(fixed.get(), {4}), HasSubstr("values of another type"));
  EXPECT_THAT(typed(variable.get(), {4}), HasSubstr("values of another type"));
  EXPECT_THAT(message_of([&] { File::open(path_).shape("/group"); }), HasSubstr("an object of another kind"));
}

TEST(Texts, AreRefusedWhereTheirOffsetsDoNotDivideTheirBytes) {
  const Scratch scratch;
  const auto said_of = [&](const std::string& bytes, const std::vector<std::uint64_t>& offset) {
    File file = File::create(scratch / "file.h5");
    file.write<std::uint8_t>("/texts/bytes", std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
    file.write<std::uint64_t>("/texts/offset", offset);
    file.close();
    return message_of([&] { File::open(scratch / "file.h5").read_texts("/texts"); });
  };
  EXPECT_EQ(said_of("abc", {0, 1, 1, 3}), "nothing was thrown");
  EXPECT_EQ(said_of("", {0}), "nothing was thrown");
  for (const std::vector<std::uint64_t>& offset : std::vector<std::vector<std::uint64_t>>{
           {}, {3}, {0}, {0, 2}, {0, 4}, {1, 3}, {0, 2, 1, 3}, {0, 9, 3}, {0, ~0ull, 3}, {~0ull, 3}, {0, 3, ~0ull}})
    EXPECT_THAT(said_of("abc", offset), AllOf(HasSubstr("file.h5 at /texts holds offsets that do not divide its bytes"),
                                              HasSubstr("from 0 to 3")));
  EXPECT_THAT(said_of(std::string("a\0c", 3), {0, 3}), HasSubstr("/texts holds a NUL byte"));
}

TEST_F(Content, IsReachedByHardLinksAlone) {
  change([](hid_t file) {
    H5Lcreate_soft("/group", file, "/soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/group/inner/numbers", file, "/list", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("/nowhere", "/numbers", file, "/external", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(file, "/group", file, "/group/loop", H5P_DEFAULT, H5P_DEFAULT);
  });
  const File file = File::open(path_);
  for (const char* path : {"/soft/inner/numbers", "/list", "/external", "/external/deeper"}) {
    EXPECT_THAT(message_of([&] { file.read<std::uint32_t>(path); }), HasSubstr("a symbolic or external link")) << path;
    EXPECT_THAT(message_of([&] { file.exists(path); }), HasSubstr("a symbolic or external link")) << path;
    EXPECT_THAT(message_of([&] { file.has_attribute(path, "count"); }), HasSubstr("a symbolic or external link"))
        << path;
  }
  EXPECT_THAT(message_of([&] { file.children("/soft"); }), HasSubstr("a symbolic or external link"));
  EXPECT_EQ(file.read<std::uint32_t>("/group/loop/loop/inner/numbers"), numbers_);
  EXPECT_FALSE(file.exists("/numbers/deeper"));
}

TEST_F(Content, HasNoGroupPackedByFilters) {
  change([](hid_t file) {
    const hid_t creation = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_link_phase_change(creation, 0, 0);
    H5Pset_deflate(creation, 1);
    const hid_t group = H5Gcreate2(file, "/packed", H5P_DEFAULT, creation, H5P_DEFAULT);
    EXPECT_GE(H5Lcreate_hard(file, kPath, group, "numbers", H5P_DEFAULT, H5P_DEFAULT), 0);
    H5Gclose(group);
    H5Pclose(creation);
  });
  const File file = File::open(path_);
  for (const auto& act :
       std::vector<std::function<void()>>{[&] { file.read<std::uint32_t>("/packed/numbers"); },
                                          [&] { file.exists("/packed/numbers"); }, [&] { file.children("/packed"); }}) {
    EXPECT_THAT(message_of(act), HasSubstr("a group packed by filters"));
  }
}

TEST_F(Content, HasAttributesOfTheTypesThatAreWritten) {
  const auto replaced = [&](const char* name, hid_t type, hid_t space) {
    change([&](hid_t file) {
      H5Adelete_by_name(file, "/group", name, H5P_DEFAULT);
      H5Aclose(H5Acreate_by_name(file, "/group", name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    });
    H5Sclose(space);
    const File file = File::open(path_);
    return message_of([&] {
      *name == 'c'   ? static_cast<void>(file.attribute<std::uint64_t>("/group", name))
      : *name == 's' ? static_cast<void>(file.attribute<double>("/group", name))
                     : static_cast<void>(file.text_attribute("/group", name));
    });
  };
  const hsize_t one = 1;
  const auto scalar = [] { return H5Screate(H5S_SCALAR); };
  const auto refused = AllOf(HasSubstr("of another type"), Not(HasSubstr("HDF5")));
  EXPECT_THAT(replaced("count", H5T_STD_I32LE, scalar()), refused);
  EXPECT_THAT(replaced("count", H5T_STD_U64BE, scalar()), refused);
  EXPECT_THAT(replaced("count", H5T_STD_U64LE, H5Screate_simple(1, &one, nullptr)), refused);
  EXPECT_THAT(replaced("count", H5T_STD_U64LE, H5Screate(H5S_NULL)), refused);
  EXPECT_THAT(replaced("share", H5T_IEEE_F32LE, scalar()), refused);
  EXPECT_THAT(replaced("name", H5T_C_S1, scalar()), refused);  // ASCII, which ends with a NUL byte
  EXPECT_THAT(replaced("name", text_type(H5T_VARIABLE).get(), scalar()), refused);
  EXPECT_THAT(replaced("name", text_type(5).get(), H5Screate_simple(1, &one, nullptr)), refused);
}

}  // namespace
}  // namespace rnnsearch::storage
