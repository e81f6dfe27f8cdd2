#include "storage/content.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>

#include "rnnsearch/storage/hdf5.h"
#include "tests/support/message_of.h"
#include "tests/support/packed_chunk.h"
#include "tests/support/scratch.h"

namespace rnnsearch::storage {
namespace {

using support::deflated;
using support::with_checksum;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr hsize_t kCount = 1000;
constexpr const char* kPath = "/numbers";

/// A file that HDF5 itself changes, in ways that this program never writes.
class Content : public testing::Test {
 protected:
  Content() {
    std::iota(numbers_.begin(), numbers_.end(), 7u);
    File file = File::create(path_);
    file.write<std::uint32_t>(kPath, numbers_);
    file.write<std::uint32_t>("/group/inner/numbers", numbers_);
    file.write_attribute("/group", "count", 3);
    file.write_attribute("/group", "share", 0.5);
    file.write_attribute("/group", "name", "three");
    file.write_texts("/texts", std::vector<std::string>{"a", "b", "c"});
    file.close();
  }

  void change(const std::function<void(hid_t)>& act) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, access);
    ASSERT_GE(file, 0);
    act(file);
    ASSERT_GE(H5Fclose(file), 0);
    H5Pclose(access);
  }

  /// In place of the numbers others: of `type` and `extents`, created as `how` says. Returns the open dataset.
  static hid_t replace(hid_t file, hid_t type, const std::vector<hsize_t>& extents,
                       const std::function<void(hid_t)>& how) {
    H5Ldelete(file, kPath, H5P_DEFAULT);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    how(creation);
    const std::vector<hsize_t> no_limits(extents.size(), H5S_UNLIMITED);
    const bool is_in_chunks = H5Pget_layout(creation) == H5D_CHUNKED;
    const hid_t space =
        H5Screate_simple(static_cast<int>(extents.size()), extents.data(), is_in_chunks ? no_limits.data() : nullptr);
    const hid_t dataset = H5Dcreate2(file, kPath, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    EXPECT_GE(dataset, 0);
    H5Sclose(space);
    H5Pclose(creation);
    return dataset;
  }
  /// The same numbers, written by HDF5.
  void rewrite(const std::function<void(hid_t)>& how) {
    change([&](hid_t file) {
      const hid_t dataset = replace(file, H5T_STD_U32LE, {kCount}, how);
      EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers_.data()), 0);
      H5Dclose(dataset);
    });
  }
  static std::function<void(hid_t)> in_chunks(hsize_t elements, const std::vector<H5Z_filter_t>& filters) {
    return [=](hid_t creation) {
      H5Pset_chunk(creation, 1, &elements);
      for (const H5Z_filter_t filter : filters) {
        const unsigned level = 1;
        H5Pset_filter(creation, filter, H5Z_FLAG_OPTIONAL, filter == H5Z_FILTER_DEFLATE ? 1 : 0, &level);
      }
    };
  }
  static std::vector<H5Z_filter_t> compressed() {
    return {H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE, H5Z_FILTER_FLETCHER32};
  }

  /// One chunk for all numbers, filtered as `filters` say, which holds `stored`.
  void store(const std::vector<H5Z_filter_t>& filters, const std::string& stored, std::uint32_t skipped_filters = 0) {
    change([&](hid_t file) {
      const hid_t dataset = replace(file, H5T_STD_U32LE, {kCount}, in_chunks(kCount, filters));
      const hsize_t corner = 0;
      EXPECT_GE(H5Dwrite_chunk(dataset, H5P_DEFAULT, skipped_filters, &corner, stored.size(), stored.data()), 0);
      H5Dclose(dataset);
    });
  }

  std::vector<std::uint32_t> read() const { return File::open(path_).read<std::uint32_t>(kPath); }
  std::string refusal() const {
    return message_of([&] { read(); });
  }

  const Scratch scratch_;
  const std::string path_ = scratch_ / "file.h5";
  std::vector<std::uint32_t> numbers_ = std::vector<std::uint32_t>(kCount);
};

std::string stored_compressed(const std::string& bytes) {
  return with_checksum(deflated(bytes));
}

TEST_F(Content, IsReadAsHDF5WritesIt) {
  for (const hsize_t elements : {1, 7, 999, 1000, 1001}) {
    for (const auto& filters : {compressed(), std::vector{H5Z_FILTER_FLETCHER32}}) {
      rewrite(in_chunks(elements, filters));
      EXPECT_EQ(read(), numbers_) << elements;
      const File file = File::open(path_);
      for (const std::uint64_t first : {0, 6, 7, 500, 998}) {
        for (const std::uint64_t count : {0, 1, 2}) {
          const auto begin = numbers_.begin() + static_cast<std::ptrdiff_t>(first);
          EXPECT_EQ(file.read_range<std::uint32_t>(kPath, first, count),
                    std::vector(begin, begin + static_cast<std::ptrdiff_t>(count)));
        }
      }
    }
  }
}

TEST_F(Content, IsReadWhenItDoesNotCompress) {
  std::mt19937_64 random(1);
  const auto check = [&]<class T>(T, const std::string& name) {
    std::vector<T> values(50000);
    for (T& value : values) value = static_cast<T>(random());
    File file = File::create(path_);
    for (const std::size_t elements : {1, 3, 1 << 14}) {
      Appender<T> appender(file, name + std::to_string(elements), elements);
      appender.append(std::span<const T>(values).first(elements < 10 ? 50 : values.size()));
      appender.close();
    }
    file.close();
    const File written = File::open(path_);
    EXPECT_EQ(written.template read<T>(name + "16384"), values);
    values.resize(50);
    EXPECT_EQ(written.template read<T>(name + "1"), values);
    EXPECT_EQ(written.template read<T>(name + "3"), values);
  };
  check(std::uint8_t{}, "/bytes");
  check(std::uint32_t{}, "/words");
  check(std::uint64_t{}, "/offsets");
}

TEST_F(Content, HasChunksThatUnpackToTheirSize) {
  const std::string bytes(kCount * 4, '\1');
  store(compressed(), stored_compressed(bytes));
  EXPECT_EQ(read(), std::vector<std::uint32_t>(kCount, 0x01010101));
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, bytes.size() - 1, bytes.size() + 1, 2 * bytes.size()}) {
    store(compressed(), stored_compressed(std::string(size, '\1')));
    EXPECT_THAT(refusal(), HasSubstr("/numbers holds a chunk that does not unpack to 4000 bytes")) << size;
  }
  store(compressed(), with_checksum(deflated(bytes) + "more"));
  EXPECT_THAT(refusal(), HasSubstr("a chunk that does not unpack to 4000 bytes"));
  store(compressed(), with_checksum(deflated(bytes).substr(0, 8)));
  EXPECT_THAT(refusal(), HasSubstr("a chunk that does not unpack to 4000 bytes"));
  store(compressed(), deflated(bytes));
  EXPECT_THAT(refusal(), HasSubstr("Fletcher32"));
  store(compressed(), "abc");
  EXPECT_THAT(refusal(), HasSubstr("that was not written completely"));
  store(compressed(), std::string(100000, 'x'));
  EXPECT_THAT(refusal(), HasSubstr("a chunk of 100000 bytes"));
  store({H5Z_FILTER_FLETCHER32}, with_checksum(bytes + "1234"));
  EXPECT_THAT(refusal(), HasSubstr("a chunk that does not unpack to 4000 bytes"));
}

TEST_F(Content, HasNoChunkThatSkipsAFilter) {
  const std::string bytes(kCount * 4, '\1');
  for (const std::uint32_t skipped : {1u, 2u, 4u, 7u, 8u, ~0u}) {
    for (const std::string& stored : {bytes, with_checksum(bytes), stored_compressed(bytes), std::string(40, '\0')}) {
      store(compressed(), stored, skipped);
      EXPECT_THAT(refusal(), HasSubstr("a chunk that skips a filter")) << skipped;
    }
  }
  store({H5Z_FILTER_DEFLATE}, std::string(400, '\0'), 1);
  EXPECT_THAT(refusal(), HasSubstr("packed by other filters"));
}

TEST_F(Content, IsPackedByOurFiltersAlone) {
  rewrite([](hid_t creation) {
    in_chunks(kCount / 2, {})(creation);
    H5Pset_scaleoffset(creation, H5Z_SO_INT, 0);
  });
  EXPECT_THAT(refusal(), HasSubstr("packed by other filters"));
  for (const std::vector<H5Z_filter_t>& filters : std::vector<std::vector<H5Z_filter_t>>{
           {},
           {H5Z_FILTER_NBIT},
           {H5Z_FILTER_NBIT, H5Z_FILTER_FLETCHER32},
           {H5Z_FILTER_SHUFFLE},
           {H5Z_FILTER_DEFLATE},
           {H5Z_FILTER_DEFLATE, H5Z_FILTER_FLETCHER32},
           {H5Z_FILTER_FLETCHER32, H5Z_FILTER_FLETCHER32},
           {H5Z_FILTER_DEFLATE, H5Z_FILTER_SHUFFLE, H5Z_FILTER_FLETCHER32},
           {H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE, H5Z_FILTER_DEFLATE, H5Z_FILTER_FLETCHER32}}) {
    rewrite(in_chunks(kCount / 2, filters));
    EXPECT_THAT(refusal(), HasSubstr("packed by other filters"));
    EXPECT_THAT(message_of([&] { File::open(path_).shape(kPath); }), HasSubstr("packed by other filters"));
  }
}

TEST_F(Content, IsInChunksOfABoundedSize) {
  rewrite([](hid_t) {});
  EXPECT_THAT(refusal(), HasSubstr("a chunked array was expected"));
  rewrite([](hid_t creation) { H5Pset_layout(creation, H5D_COMPACT); });
  EXPECT_THAT(refusal(), HasSubstr("a chunked array was expected"));
  rewrite(in_chunks(kMostChunkBytes / 4, compressed()));
  EXPECT_EQ(read(), numbers_);
  rewrite(in_chunks(kMostChunkBytes / 4 + 1, compressed()));
  EXPECT_THAT(refusal(), HasSubstr("chunks of [1048577] numbers"));
  rewrite([](hid_t creation) {  // whose last chunk is then not filtered
    in_chunks(kCount - 1, compressed())(creation);
    H5Pset_chunk_opts(creation, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
  });
  EXPECT_THAT(refusal(), HasSubstr("chunks of different kinds"));
}

TEST_F(Content, HasAllThatItsShapeAsksFor) {
  for (const hsize_t extent : {hsize_t{kCount + 1}, hsize_t{1} << 40, hsize_t{1} << 62}) {
    change([&](hid_t file) {
      const hid_t dataset = replace(file, H5T_STD_U32LE, {extent}, in_chunks(kCount, compressed()));
      const hsize_t corner = 0;
      const std::string stored = stored_compressed(std::string(kCount * 4, '\1'));
      H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, &corner, stored.size(), stored.data());
      H5Dclose(dataset);
    });
    EXPECT_THAT(refusal(), HasSubstr("that was not written completely")) << extent;
  }
  change([&](hid_t file) { H5Dclose(replace(file, H5T_STD_U32LE, {kCount}, in_chunks(kCount, compressed()))); });
  EXPECT_THAT(refusal(), HasSubstr("that was not written completely"));
}

TEST_F(Content, MayGrowInEachDimensionOrInNone) {
  const auto with_limits = [&](const std::vector<hsize_t>& limits) {
    change([&](hid_t file) {
      H5Ldelete(file, kPath, H5P_DEFAULT);
      const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
      const std::vector<hsize_t> extents(limits.size(), 6), chunk(limits.size(), 2);
      H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
      H5Pset_fletcher32(creation);
      H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
      const hid_t space = H5Screate_simple(static_cast<int>(extents.size()), extents.data(), limits.data());
      H5Dclose(H5Dcreate2(file, kPath, H5T_STD_U32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
      H5Sclose(space);
      H5Pclose(creation);
    });
    return message_of([&] { File::open(path_).shape(kPath); });
  };
  const auto refused = HasSubstr("an array that may grow in part");
  EXPECT_THAT(with_limits({6}), HasSubstr("nothing was thrown"));
  EXPECT_THAT(with_limits({H5S_UNLIMITED}), HasSubstr("nothing was thrown"));
  EXPECT_THAT(with_limits({6, 6}), HasSubstr("nothing was thrown"));
  EXPECT_THAT(with_limits({H5S_UNLIMITED, H5S_UNLIMITED}), HasSubstr("nothing was thrown"));
  EXPECT_THAT(with_limits({7}), refused);
  EXPECT_THAT(with_limits({6, 100}), refused);
  EXPECT_THAT(with_limits({H5S_UNLIMITED, 6}), refused);
}

TEST_F(Content, IsOfTheTypesAndRanksThatAreWritten) {
  const auto typed = [&](hid_t type, const std::vector<hsize_t>& extents) {
    change([&](hid_t file) {
      H5Dclose(replace(file, type, extents, [&](hid_t creation) {
        const std::vector<hsize_t> chunk(extents.size(), 1);
        if (!extents.empty()) H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
        H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
      }));
    });
    return message_of([&] { File::open(path_).shape(kPath); });
  };
  for (const hid_t type :
       {H5T_STD_U32BE, H5T_STD_I32LE, H5T_STD_U16LE, H5T_IEEE_F64BE, H5T_STD_REF_OBJ, H5T_STD_B32LE, H5T_UNIX_D32LE}) {
    EXPECT_THAT(typed(type, {4}), HasSubstr("values of another type"));
  }
  EXPECT_THAT(typed(H5T_IEEE_F32LE, {}), HasSubstr("an array of shape []"));
  EXPECT_THAT(typed(H5T_IEEE_F32LE, {2, 2, 2}), HasSubstr("an array of shape [2, 2, 2]"));
  const hid_t fixed = H5Tcopy(H5T_C_S1);
  H5Tset_size(fixed, 8);
  EXPECT_THAT(typed(fixed, {4}), HasSubstr("values of another type"));
  H5Tclose(fixed);
  EXPECT_THAT(typed(text_type().get(), {4}), HasSubstr("that was not written completely"));
  EXPECT_THAT(typed(text_type().get(), {2, 2}), HasSubstr("an array of shape [2, 2]"));
  EXPECT_THAT(message_of([&] { File::open(path_).shape("/group"); }), HasSubstr("an object of another kind"));
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
  {
    const File file = File::open(path_);
    EXPECT_EQ(file.integer_attribute("/group", "count"), 3);
    EXPECT_EQ(file.unsigned_attribute("/group", "count"), 3U);
    EXPECT_EQ(file.double_attribute("/group", "share"), 0.5);
    EXPECT_EQ(file.text_attribute("/group", "name"), "three");
  }
  const auto replaced = [&](const char* name, hid_t type, hid_t space) {
    change([&](hid_t file) {
      H5Adelete_by_name(file, "/group", name, H5P_DEFAULT);
      H5Aclose(H5Acreate_by_name(file, "/group", name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    });
    H5Sclose(space);
    const File file = File::open(path_);
    return message_of([&] {
      *name == 'c'   ? static_cast<void>(file.unsigned_attribute("/group", name))
      : *name == 's' ? static_cast<void>(file.double_attribute("/group", name))
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
  EXPECT_THAT(replaced("name", H5T_C_S1, scalar()), refused);
}

}  // namespace
}  // namespace rnnsearch::storage
