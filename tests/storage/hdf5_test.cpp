#include "rnnsearch/storage/hdf5.h"

#include <hdf5.h>
#include <unistd.h>

#include "tests/support/test.h"

namespace rnnsearch::storage {
namespace {

class Hdf5File : public ScratchTest {
 protected:
  /// The file, open for reading, after `write` has written to it.
  File written(const std::function<void(File&)>& write) const {
    File file = File::create(path_);
    write(file);
    file.close();
    return File::open(path_);
  }
  const std::filesystem::path path_ = scratch_ / "file.h5";
};

TEST_F(Hdf5File, ReturnsWhatWasWritten) {
  const std::vector<float> floats{1.5f, -0.0f, std::numeric_limits<float>::infinity()};
  const std::vector<std::uint64_t> longs{0, std::numeric_limits<std::uint64_t>::max()};
  const std::vector<std::string> texts{"<unk>", "", "\xe2\x80\x99t", std::string(100000, 'x')};
  std::vector<std::uint32_t> many(100000);
  std::iota(many.begin(), many.end(), 7u);
  const File file = written([&](File& to) {
    to.write<float>("/a/b/floats", floats);
    to.write<double>("/a/doubles", std::vector<double>{0.1});
    to.write<std::uint64_t>("/longs", longs);
    to.write<std::uint32_t>("/many", many);
    to.write<std::uint32_t>("/empty", std::span<const std::uint32_t>{});
    to.write_texts("/texts", texts);
    to.write_texts("/no_texts", {});
  });
  EXPECT_EQ(file.read<float>("/a/b/floats"), floats);
  EXPECT_EQ(file.read<double>("/a/doubles"), std::vector<double>{0.1});
  EXPECT_EQ(file.read<std::uint64_t>("/longs"), longs);
  EXPECT_EQ(file.read<std::uint32_t>("/many"), many);
  EXPECT_TRUE(file.read<std::uint32_t>("/empty").empty());
  EXPECT_EQ(file.read_texts("/texts"), texts);
  EXPECT_TRUE(file.read_texts("/no_texts").empty());
  EXPECT_THAT(file.children("/"), ElementsAre("a", "empty", "longs", "many", "no_texts", "texts"));
  EXPECT_TRUE(file.exists("/a/b/floats"));
  EXPECT_TRUE(file.exists("/"));
  EXPECT_FALSE(file.exists("/a/c/floats"));
  EXPECT_THAT(file.read_range<std::uint32_t>("/many", 32767, 3), ElementsAre(32774u, 32775u, 32776u));
  EXPECT_THAT(file.read_range<std::uint32_t>("/many", 100000, 0), ElementsAre());
}

TEST_F(Hdf5File, WritesAndReadsAMatrixInsideAWiderOne) {
  std::vector<float> wide(7 * 10);
  std::iota(wide.begin(), wide.end(), 0.0f);
  const ConstMatrixView<float> part = MatrixView<const float>(wide.data(), 7, 10).columns(3, 4);
  const File file = written([&](File& to) { to.write("/part", part); });
  EXPECT_THAT(file.shape("/part"), ElementsAre(7, 4));
  std::vector<float> dense(7 * 4), strided(7 * 5, -1.0f);
  file.read_into("/part", MatrixView<float>(dense.data(), 7, 4));
  file.read_into("/part", MatrixView<float>(strided.data(), 7, 4, 5));
  for (std::size_t i = 0; i < 7; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_EQ(dense[i * 4 + j], part(i, j));
      EXPECT_EQ(strided[i * 5 + j], part(i, j));
    }
    EXPECT_EQ(strided[i * 5 + 4], -1.0f);
  }
}

TEST_F(Hdf5File, ReturnsAttributes) {
  const File file = written([](File& to) {
    to.write_attribute("/", "format", "old");
    to.write_attribute("/", "format", "rnnsearch-corpus");
    to.write_attribute("/", "empty", "");
    to.write_attribute("/", "long", std::string(200000, 'x'));
    to.write_attribute("/state/inner", "seed", std::numeric_limits<std::uint64_t>::max());
    to.write_attribute("/state/inner", "minus", -3);
    to.write_attribute("/state/inner", "loss", 0.1);
  });
  EXPECT_EQ(file.text_attribute("/", "format"), "rnnsearch-corpus");
  EXPECT_EQ(file.text_attribute("/", "empty"), "");
  EXPECT_EQ(file.text_attribute("/", "long"), std::string(200000, 'x'));
  EXPECT_EQ(file.attribute<std::uint64_t>("/state/inner", "seed"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(file.attribute<std::int64_t>("/state/inner", "minus"), -3);
  EXPECT_EQ(file.attribute<double>("/state/inner", "loss"), 0.1);
  EXPECT_THAT(file.attributes("/state/inner"), ElementsAre("loss", "minus", "seed"));
  EXPECT_TRUE(file.has_attribute("/", "format"));
  EXPECT_FALSE(file.has_attribute("/", "missing"));
  EXPECT_FALSE(file.has_attribute("/missing", "format"));
  EXPECT_THAT(message_of([&] { file.text_attribute("/", "missing"); }), HasSubstr("missing"));
  EXPECT_THAT(message_of([&] { file.text_attribute("/state/inner", "minus"); }), HasSubstr("another type"));
  EXPECT_THAT(message_of([&] { file.attribute<std::int64_t>("/state/inner", "loss"); }), HasSubstr("another type"));
}

TEST_F(Hdf5File, TakesAListPieceByPiece) {
  std::vector<std::uint32_t> expected;
  const File file = written([&](File& to) {
    ListWriter<std::uint32_t> words(to, "/train/words", 110009);
    ListWriter<std::uint64_t> nothing(to, "/train/nothing", 0);
    for (std::uint32_t length : {0u, 1u, 5u, 40000u, 70000u, 3u}) {
      std::vector<std::uint32_t> piece(length);
      std::iota(piece.begin(), piece.end(), length);
      words.append(piece);
      expected.insert(expected.end(), piece.begin(), piece.end());
      EXPECT_EQ(words.room(), 110009 - expected.size());
    }
    words.flush();
    nothing.flush();
    EXPECT_THAT(message_of([&] {
                  to.write_range<std::uint32_t>("/train/words", 110008, std::vector{1u, 2u});
                }),
                HasSubstr("holds 110009 values where at least 110008 + 2"));
  });
  EXPECT_EQ(file.read<std::uint32_t>("/train/words"), expected);
  EXPECT_TRUE(file.read<std::uint64_t>("/train/nothing").empty());
}

TEST_F(Hdf5File, IsReadByOneThreadWhileAnotherWritesItsOwn) {
  std::vector<std::uint32_t> numbers(30000);
  std::iota(numbers.begin(), numbers.end(), 0);
  const File file = written([&](File& to) { to.write<std::uint32_t>("/numbers", numbers); });
  std::atomic<bool> written = false;
  std::atomic<std::size_t> reads = 0, wrong = 0;
  std::thread reader([&] {
    do wrong += file.read_range<std::uint32_t>("/numbers", 20000, 1)[0] != 20000;
    while (++reads < 20 || !written);
  });
  File other = File::create(scratch_ / "written.h5");
  while (reads == 0) std::this_thread::yield();
  {
    const Exclusive alone;
    const std::size_t before = reads;
    for (int i = 0; i < 50; ++i) other.write<std::uint32_t>(fmt::format("/group/{}", i), numbers);
    EXPECT_LE(reads, before + 1) << "the one that was over already";
  }
  for (int i = 0; i < 50; ++i) other.write_attribute("/group", fmt::format("a{}", i), i);
  other.close();
  written = true;
  reader.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(File::open(scratch_ / "written.h5").read<std::uint32_t>("/group/49"), numbers);
}

TEST_F(Hdf5File, SaysWhatItFoundWhereSomethingElseWasExpected) {
  const File file = written([](File& to) {
    to.write<float>("/floats", std::vector<float>{1, 2, 3});
    to.write_texts("/texts", std::vector<std::string>{"a"});
  });
  EXPECT_THAT(message_of([&] { file.read<double>("/floats"); }), HasSubstr("expected"));
  EXPECT_THAT(message_of([&] { file.read<float>("/texts"); }), HasSubstr("expected"));
  EXPECT_THAT(message_of([&] { file.read_texts("/floats"); }), HasSubstr("/floats/bytes: there is no such object"));
  EXPECT_THAT(message_of([&] { file.read<float>("/none"); }), AllOf(HasSubstr("/none"), HasSubstr("file.h5")));
  EXPECT_THAT(message_of([&] { file.read_range<float>("/floats", 2, 2); }), HasSubstr("3 values"));
  EXPECT_THAT(message_of([&] { file.read_range<float>("/floats", ~0ull, 2); }), HasSubstr("3 values"));
  std::vector<float> four(4);
  EXPECT_THAT(message_of([&] { file.read_into<float>("/floats", std::span(four)); }),
              AllOf(HasSubstr("[3]"), HasSubstr("[4]")));
  EXPECT_THAT(message_of([&] { file.read_into<float>("/floats", MatrixView<float>(four.data(), 2, 2)); }),
              AllOf(HasSubstr("[3]"), HasSubstr("[2, 2]")));
  EXPECT_THAT(message_of([&] { file.children("/none"); }), HasSubstr("/none"));
}

TEST_F(Hdf5File, ReadsNothingThatLiesInAnotherFile) {
  const auto other = scratch_ / "other.h5";
  const std::vector<std::uint32_t> numbers{1, 2, 3};
  for (const auto& name : {path_, other}) {
    File file = File::create(name);
    file.write<std::uint32_t>("/numbers", numbers);
    file.close();
  }
  {
    write_text(scratch_ / "raw", std::string(12, 'x'));
    const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hsize_t size = 3;
    const hid_t space = H5Screate_simple(1, &size, nullptr), creation = H5Pcreate(H5P_DATASET_CREATE),
                mapped = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(creation, (scratch_ / "raw").c_str(), 0, 12);
    H5Pset_virtual(mapped, space, other.c_str(), "/numbers", space);
    ASSERT_GE(H5Dclose(H5Dcreate2(file, "raw", H5T_STD_U32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT)), 0);
    ASSERT_GE(H5Dclose(H5Dcreate2(file, "virtual", H5T_STD_U32LE, space, H5P_DEFAULT, mapped, H5P_DEFAULT)), 0);
    for (const hid_t list : {creation, mapped}) H5Pclose(list);
    H5Sclose(space);
    ASSERT_GE(H5Fclose(file), 0);
  }
  const File file = File::open(path_);
  EXPECT_EQ(file.read<std::uint32_t>("/numbers"), numbers);
  for (const char* name : {"/raw", "/virtual"}) {
    EXPECT_THAT(message_of([&] { file.read<std::uint32_t>(name); }),
                HasSubstr("an array in chunks, packed or in other files"));
  }
}

TEST_F(Hdf5File, NamesTheSystemsReasonWhenItCannotBeMadeOrOpened) {
  EXPECT_THAT(message_of([&] { File::create(scratch_ / "missing" / "file.h5"); }),
              HasSubstr("No such file or directory"));
  EXPECT_THAT(message_of([&] { File::open(scratch_ / "missing.h5"); }), HasSubstr("No such file or directory"));
  write_text(scratch_ / "text.h5", "a text");
  EXPECT_THAT(message_of([&] { File::open(scratch_ / "text.h5"); }), HasSubstr("text.h5"));
}

TEST_F(Hdf5File, PrintsNothingWhateverThreadFails) {
  const auto fail = [&] {
    EXPECT_THAT(message_of([&] { File::open(scratch_ / "missing.h5"); }), HasSubstr("No such file or directory"));
  };
  testing::internal::CaptureStderr();
  fail();
  std::thread(fail).join();
  std::thread(fail).join();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace rnnsearch::storage
