#include "rnnsearch/storage/sealed_file.h"

#include <sys/mount.h>
#include <sys/stat.h>

#include "rnnsearch/base/file.h"
#include "tests/support/test.h"
#include "tests/support/watchdog.h"

/// HDF5 leaks a few kilobytes of its own for each file that a full disk keeps it from closing.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

namespace rnnsearch::storage {
namespace {

namespace fs = std::filesystem;

using SealedFile = ScratchTest;

void write_small(const fs::path& path) {
  SealedWriter writer(path);
  write_format(writer.file(), "rnnsearch-test");
  std::vector<std::uint32_t> words(500);
  std::iota(words.begin(), words.end(), 0u);
  writer.file().write<std::uint32_t>("/words", words);
  writer.publish();
}

TEST_F(SealedFile, IsReadAsItWasWrittenAndLeavesNoTemporary) {
  write_small(scratch_ / "a.h5");
  EXPECT_EQ(scratch_.files(), 1u);
  const File file = open_sealed(scratch_ / "a.h5", "test");
  EXPECT_EQ(file.read<std::uint32_t>("/words")[499], 499u);
  check_format(file, "rnnsearch-test");
}

TEST_F(SealedFile, CanBeLeftWhileItsDigestIsRead) {
  {
    SealedWriter writer(scratch_ / "a.h5");
    writer.file().write<float>("/values", std::vector<float>(1 << 20, 1));  // 4 MiB
    writer.publish();
  }
  int polls = 0;
  open_sealed(scratch_ / "a.h5", "test", SealCheck::kDigest, [&] { ++polls; });
  EXPECT_GE(polls, 4);
  struct Leave {};
  const auto leave = [&] {
    if (--polls == 0) throw Leave();
  };
  EXPECT_THROW(open_sealed(scratch_ / "a.h5", "test", SealCheck::kDigest, leave), Leave);
}

TEST_F(SealedFile, SaysItsDigestWithoutReadingItsContent) {
  write_small(scratch_ / "a.h5");
  const std::string bytes = read_file(scratch_ / "a.h5");
  EXPECT_EQ(sealed_digest(scratch_ / "a.h5", "test"),
            Digest().add(std::string_view(bytes).substr(0, bytes.size() - kSealBytes)).hex());
  write_text(scratch_ / "short.h5", bytes.substr(0, bytes.size() - 1));
  EXPECT_THAT(message_of([&] { sealed_digest(scratch_ / "short.h5", "test"); }),
              AllOf(HasSubstr("test: "), HasSubstr("short.h5")));
}

TEST_F(SealedFile, IsNotThereUntilItIsPublished) {
  write_text(scratch_ / "a.h5", "former");
  {
    SealedWriter writer(scratch_ / "a.h5");
    writer.file().write<float>("/values", std::vector<float>{1});
    EXPECT_EQ(read_file(scratch_ / "a.h5"), "former");
  }
  EXPECT_EQ(read_file(scratch_ / "a.h5"), "former");
  EXPECT_EQ(scratch_.files(), 1u);
  write_small(scratch_ / "a.h5");
  verify_seal(scratch_ / "a.h5", "test");
}

TEST_F(SealedFile, IsRefusedAtEveryShorterLength) {
  write_small(scratch_ / "whole.h5");
  const std::string whole = read_file(scratch_ / "whole.h5");
  for (std::size_t length = 0; length < whole.size(); length += length < 64 || length + 64 > whole.size() ? 1 : 97) {
    write_text(scratch_ / "cut.h5", whole.substr(0, length));
    for (const SealCheck check : {SealCheck::kDigest, SealCheck::kFooter})
      ASSERT_THAT(message_of([&] { verify_seal(scratch_ / "cut.h5", "test", check); }),
                  AllOf(StartsWith("test: cannot read "), HasSubstr(length == 0 ? "empty" : "truncated")))
          << length;
  }
}

TEST_F(SealedFile, IsRefusedWithAnyBitFlipped) {
  write_small(scratch_ / "whole.h5");
  const std::string whole = read_file(scratch_ / "whole.h5");
  for (std::size_t i = 0; i<whole.size(); i += i + 64> whole.size() ? 1 : 41) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
    write_text(scratch_ / "flipped.h5", flipped);
    ASSERT_THAT(message_of([&] { verify_seal(scratch_ / "flipped.h5", "test"); }),
                testing::ContainsRegex(i < 8 ? "another kind" : "damaged|truncated"))
        << i;
  }
}

TEST_F(SealedFile, IsRefusedWithBytesBehindIt) {
  write_small(scratch_ / "a.h5");
  std::ofstream(scratch_ / "a.h5", std::ios::app) << "x";
  EXPECT_THAT(message_of([&] { verify_seal(scratch_ / "a.h5", "test", SealCheck::kFooter); }), HasSubstr("seal"));
}

TEST_F(SealedFile, IsToldFromOtherKindsOfFiles) {
  const auto refusal = [&](const fs::path& path) { return message_of([&] { open_sealed(path, "test"); }); };
  EXPECT_THAT(refusal(scratch_ / "missing.h5"), HasSubstr("No such file or directory"));
  EXPECT_THAT(refusal(scratch_.path()), HasSubstr("folder"));
  EXPECT_THAT(refusal("/dev/null"), HasSubstr("regular"));
  write_text(scratch_ / "text", "A man is no more than the sum of his parts, said the text.\n");
  EXPECT_THAT(refusal(scratch_ / "text"), HasSubstr("another kind"));
  write_text(scratch_ / "zip", std::string("PK\x03\x04\0\0\0\0", 8) + std::string(100, '\0'));
  EXPECT_THAT(refusal(scratch_ / "zip"), HasSubstr("another kind"));
  File::create(scratch_ / "unsealed.h5").close();
  EXPECT_THAT(refusal(scratch_ / "unsealed.h5"), HasSubstr("truncated, or was not written by rnnsearch"));
}

TEST_F(SealedFile, IsRefusedAtOnceWhereItIsANamedPipe) {
  const fs::path pipe = scratch_ / "pipe.h5";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const support::Watchdog watchdog(60, "verify_seal of a named pipe that nobody writes");
  EXPECT_THAT(message_of([&] { verify_seal(pipe, "corpus"); }), HasSubstr("pipe.h5: it is not a regular file"));
}

TEST_F(SealedFile, OfAnotherFormatOrAnotherVersionIsRefused) {
  const auto said_of = [&](const char* name) {
    return message_of([&] { check_format(open_sealed(scratch_ / name, "test"), "rnnsearch-corpus"); });
  };
  for (const int change : {-1, 1}) {
    SealedWriter writer(scratch_ / "other.h5");
    write_format(writer.file(), "rnnsearch-corpus");
    writer.file().write_attribute("/", "format_version", kFormatVersion + change);
    writer.publish();
    EXPECT_THAT(said_of("other.h5"),
                AllOf(HasSubstr(fmt::format("format version {}, but this program reads only version {}",
                                            kFormatVersion + change, kFormatVersion)),
                      HasSubstr("make a corpus again with rnnsearch prepare"), Not(HasSubstr("\n"))));
  }
  write_small(scratch_ / "test.h5");
  EXPECT_THAT(said_of("test.h5"), AllOf(HasSubstr("rnnsearch-test"), HasSubstr("rnnsearch-corpus")));
  SealedWriter(scratch_ / "plain.h5").publish();
  EXPECT_THAT(said_of("plain.h5"), HasSubstr("unknown"));
}

TEST_F(SealedFile, OpensInOtherProgramsOfHdf5) {
  if (std::system("command -v h5dump > /dev/null") != 0) GTEST_SKIP() << "no h5dump here";
  write_small(scratch_ / "a.h5");
  EXPECT_EQ(std::system(
                ("h5dump -d /words '" + (scratch_ / "a.h5").string() + "' > '" + (scratch_ / "out").string() + "' 2>&1")
                    .c_str()),
            0);
  EXPECT_THAT(read_file(scratch_ / "out"), HasSubstr("499"));
}

/// A file system of a few hundred kilobytes.
class SmallDisk {
 public:
  explicit SmallDisk(fs::path folder) : folder_(std::move(folder)) {
    fs::create_directory(folder_);
    mounted_ = ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=512k") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }

 private:
  fs::path folder_;
  bool mounted_;
};

TEST_F(SealedFile, GivesOneSentenceForAFullDiskWhereverItRunsOut) {
  const fs::path disk = scratch_ / "disk";
  const SmallDisk small(disk);
  if (!small.mounted()) GTEST_SKIP() << "mounting a small file system needs root";
  write_text(disk / "a.h5", "former");
  int refused = 0, published = 0;
  // The disk fills while data, then while only metadata, then while only the footer is written.
  for (std::size_t filler = 0; filler < 508 << 10; filler += 4 << 10) {
    write_text(disk / "filler", std::string(filler, 'x'));
    const std::string message = message_of([&] {
      SealedWriter writer(disk / "a.h5");
      writer.file().write<float>("/values", std::vector<float>(3 << 15, 1.0f));
      for (int i = 0; i < 20; ++i)
        writer.file().write_attribute("/group", "attribute" + std::to_string(i), std::string(200, 'x'));
      writer.file().write_texts("/texts", std::vector<std::string>(100, std::string(100, 'x')));
      writer.publish();
    });
    if (message == "nothing was thrown") {
      verify_seal(disk / "a.h5", "test");
      ++published;
      write_text(disk / "a.h5", "former");
    } else {
      ++refused;
      ASSERT_THAT(message, AllOf(HasSubstr("cannot"), HasSubstr((disk / "a.h5").string()),
                                 HasSubstr("No space left on device"), Not(HasSubstr("\n"))));
      ASSERT_EQ(read_file(disk / "a.h5"), "former");
    }
    ASSERT_EQ(std::distance(fs::directory_iterator(disk), {}), 2) << "a temporary was left";
  }
  fs::remove(disk / "filler");
  fs::remove(disk / "a.h5");
  EXPECT_EQ(fs::space(disk).free, fs::space(disk).capacity) << "an open descriptor holds what was removed";
  EXPECT_GT(refused, 10);
  EXPECT_GT(published, 2);
}

TEST(Digest, DoesNotDependOnHowTheBytesAreDivided) {
  const std::string text(10000, 'x');
  Digest whole, parts;
  whole.add(text);
  for (std::size_t i = 0; i < text.size(); i += 7) parts.add(std::string_view(text).substr(i, 7));
  EXPECT_EQ(whole.hex(), parts.hex());
  EXPECT_EQ(Digest().hex(), "99aa06d3014798d86001c324468d497f");  // XXH3-128 of nothing, seed 0
  EXPECT_NE(whole.hex(), Digest().add("x").hex());
}

}  // namespace
}  // namespace rnnsearch::storage
