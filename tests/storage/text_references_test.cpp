#include "storage/text_references.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <fstream>

#include "rnnsearch/base/file.h"
#include "rnnsearch/storage/sealed_file.h"
#include "tests/support/message_of.h"
#include "tests/support/scratch.h"

namespace rnnsearch::storage {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::vector<std::string> kTexts{"alpha", "beta", "", "gamma gamma", std::string(9000, 'x')};
const std::string kAttribute = "delta delta";

template <class T>
std::string bytes_of(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// A file of texts whose bytes are changed, and sealed again.
class TextReferences : public testing::Test {
 protected:
  TextReferences() {
    SealedWriter writer(path_);
    writer.file().write_attribute("/", "name", kAttribute);
    writer.file().write_texts("/texts", kTexts);
    writer.publish();
    good_ = bytes_ = read_file(path_).substr(0, std::filesystem::file_size(path_) - kSealBytes);
    heap_ = bytes_.find("GCOL");
  }
  std::size_t object(const std::string& text) const { return good_.find(text) - 16; }
  template <class T>
  T read(std::size_t at) const {
    T value;
    std::memcpy(&value, good_.data() + at, sizeof value);
    return value;
  }
  /// Where the file refers to a text: length, address of the heap, index.
  std::size_t reference(const std::string& text) const {
    std::size_t heap = good_.rfind("GCOL", object(text));
    return good_.find(bytes_of(static_cast<std::uint32_t>(text.size())) + bytes_of<std::uint64_t>(heap) +
                      bytes_of<std::uint32_t>(read<std::uint16_t>(object(text))));
  }
  template <class T>
  void set(std::size_t at, T value) {
    bytes_.replace(at, sizeof value, bytes_of(value));
  }
  File open() {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes_;
    bytes_ = good_;
    seal(path_);
    return open_sealed(path_, "corpus");
  }
  std::string refusal() {
    return message_of([this] { open().read_texts("/texts"); });
  }
  auto refused(const std::string& what) const {
    return AllOf(StartsWith(path_.string() + " at /texts holds "), HasSubstr(what), HasSubstr("make it again"));
  }

  const Scratch scratch_;
  const std::filesystem::path path_ = scratch_ / "file.h5";
  std::string good_, bytes_;
  std::size_t heap_ = 0;
};

TEST_F(TextReferences, OfAGoodFileLeadToItsTexts) {
  const File file = open();
  EXPECT_EQ(file.read_texts("/texts"), kTexts);
  EXPECT_EQ(file.text_attribute("/", "name"), kAttribute);
}

TEST_F(TextReferences, LeadToTheTextsOfManyHeapsAndOfAFileStillBeingWritten) {
  std::vector<std::string> texts;
  for (int i = 0; i < 30000; ++i) texts.push_back(i % 7 == 0 ? "" : std::to_string(i) + "w");
  texts[5] = std::string(200000, 'y');
  File file = File::create(path_);
  file.write_texts("/texts", texts);
  file.write_attribute("/", "name", kAttribute);
  EXPECT_EQ(file.read_texts("/texts"), texts);
  EXPECT_EQ(file.text_attribute("/", "name"), kAttribute);
  file.close();
  EXPECT_EQ(File::open(path_).read_texts("/texts"), texts);
}

TEST_F(TextReferences, ToNothingAreEmptyTexts) {
  bytes_.replace(reference("alpha"), 16, std::string(16, '\0'));
  EXPECT_EQ(open().read_texts("/texts"), (std::vector<std::string>{"", kTexts[1], kTexts[2], kTexts[3], kTexts[4]}));
}

TEST_F(TextReferences, OfAnotherLengthThanTheirObjectsAreRefused) {
  for (const std::uint32_t length : {0u, 4u, 6u, ~0u}) {
    set(reference("alpha"), length);
    EXPECT_THAT(refusal(), refused("text 0 of " + std::to_string(length) + " bytes in object")) << length;
  }
}

TEST_F(TextReferences, ToObjectsThatAreNotThereAreRefused) {
  const auto index = std::uint32_t{read<std::uint16_t>(object("alpha"))};
  for (const std::uint32_t other : {0u, 99u, 65536u + index, ~0u}) {
    set(reference("alpha") + 12, other);
    EXPECT_THAT(refusal(), refused("text 0 in object " + std::to_string(other) + " of the heap at byte ")) << other;
  }
}

TEST_F(TextReferences, ToOneObjectAreRefused) {
  bytes_.replace(reference("beta"), 16, good_.substr(reference("alpha"), 16));
  EXPECT_THAT(refusal(), refused("where another text is"));
}

TEST_F(TextReferences, ToHeapsThatAreNotThereAreRefused) {
  const std::uint64_t end = good_.size();
  set<std::uint64_t>(reference("alpha") + 4, 0);
  EXPECT_THAT(refusal(), refused("of no heap"));
  for (const std::uint64_t address : {std::uint64_t{8}, std::uint64_t{heap_ + 8}}) {
    set(reference("alpha") + 4, address);
    EXPECT_THAT(refusal(), refused("where there is no heap")) << address;
  }
  for (const std::uint64_t address : {end - 4095, end, end + 40, ~std::uint64_t{0}, ~std::uint64_t{0} - 4095}) {
    set(reference("alpha") + 4, address);
    EXPECT_THAT(refusal(), refused("beyond the end of the file")) << address;
  }
}

TEST_F(TextReferences, ToHeapsOfImpossibleSizesAreRefused) {
  const std::uint64_t room = good_.size() - heap_;
  for (const std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{4095}, room + 1, ~std::uint64_t{0}, ~std::uint64_t{0} - heap_ + 1}) {
    set(heap_ + 8, size);
    EXPECT_THAT(refusal(), refused("of an impossible size")) << size;
  }
  for (const std::size_t at : {heap_, heap_ + 4}) {
    bytes_[at] ^= 2;
    EXPECT_THAT(refusal(), refused("where there is no heap"));
  }
}

TEST_F(TextReferences, ToObjectsOfImpossibleSizesAreRefused) {
  const std::size_t at = object("alpha");
  for (const std::uint64_t size : {std::uint64_t{4}, std::uint64_t{6}, std::uint64_t{8}}) {  // padded to the same place
    set(at + 8, size);
    EXPECT_THAT(refusal(), refused(", which has " + std::to_string(size))) << size;
  }
  for (const std::uint64_t size : {std::uint64_t{1} << 20, ~std::uint64_t{0}, ~std::uint64_t{0} - 20}) {
    set(at + 8, size);
    EXPECT_THAT(refusal(), refused("exceeds the heap")) << size;
  }
}

TEST_F(TextReferences, ToHeapsWithANumberTwiceAreRefused) {
  set(object("alpha"), read<std::uint16_t>(object("gamma gamma")));
  EXPECT_THAT(refusal(), refused("twice"));
}

TEST_F(TextReferences, ToHeapsWithFreeSpaceOfAnotherSizeAreRefused) {
  std::size_t at = heap_ + 16;
  while (read<std::uint16_t>(at) != 0) at += 16 + (read<std::uint64_t>(at + 8) + 7) / 8 * 8;
  ASSERT_EQ(at + read<std::uint64_t>(at + 8), heap_ + read<std::uint64_t>(heap_ + 8));
  const auto free = read<std::uint64_t>(at + 8);
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{16}, free - 8, free + 8}) {  // of 0: HDF5 never ends
    set(at + 8, size);
    EXPECT_THAT(refusal(), refused("free space")) << size;
  }
}

TEST_F(TextReferences, ToAHeapInsideAnotherAreRefused) {
  const std::string& big = kTexts[4];
  const std::size_t inner = object(big) + 16 + 512;
  const auto forge = [&](const std::string& text) {
    bytes_.replace(inner, 8, std::string("GCOL\1\0\0\0", 8));
    set<std::uint64_t>(inner + 8, 4096);
    bytes_.replace(inner + 16, 8, std::string("\1\0\1\0\0\0\0\0", 8));
    set<std::uint64_t>(inner + 24, 4096 - 32);
    set<std::uint32_t>(reference(text), 4096 - 32);
    set<std::uint64_t>(reference(text) + 4, inner);
    set<std::uint32_t>(reference(text) + 12, 1);
  };
  forge("gamma gamma");
  EXPECT_THAT(refusal(), refused("inside another"));
  // Alone, it is as good as any.
  forge(big);
  EXPECT_EQ(open().read_texts("/texts")[4], std::string(4096 - 32, 'x'));
}

TEST_F(TextReferences, OfAnAttributeAreCheckedToo) {
  const std::size_t at = object(kAttribute);
  const auto read_name = [this] { open().text_attribute("/", "name"); };
  for (const std::uint64_t size : {std::uint64_t{12}, ~std::uint64_t{0} - 100}) {
    set(at + 8, size);
    EXPECT_THAT(message_of(read_name), AllOf(HasSubstr("file.h5 at /, attribute 'name', holds"), HasSubstr("object")));
  }
  set<std::uint16_t>(at, 77);
  EXPECT_THAT(message_of(read_name), HasSubstr("which has none of that number"));
}

TEST_F(TextReferences, AreRefusedInATruncatedFile) {
  for (const std::size_t size : {heap_ + 8, heap_ + 4000, good_.size() - 2 * kSealBytes}) {
    bytes_.resize(size);
    EXPECT_THAT(refusal(), HasSubstr("file.h5")) << size;
  }
}

TEST_F(TextReferences, WithAnyByteChangedAreReadAsTheyWereOrRefused) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < 16; ++i) {
    for (const std::size_t from : {heap_, object("alpha"), reference("alpha"), object(kTexts[4]), reference(kTexts[4])})
      places.push_back(from + i);
  }
  std::size_t read = 0, refused = 0;
  for (const std::size_t at : places) {
    for (const int change : {0x01, 0x10, 0xff}) {
      std::string bytes = good_;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
      try {
        const File file = File::open(path_);
        EXPECT_EQ(file.read_texts("/texts"), kTexts) << at << ": " << change;
        EXPECT_EQ(file.text_attribute("/", "name"), kAttribute) << at << ": " << change;
        ++read;
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(read, 0u);  // reserved bytes, counts of references
  EXPECT_GT(refused, 100u);
}

}  // namespace
}  // namespace rnnsearch::storage
