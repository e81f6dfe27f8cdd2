#include "corpus/byte_source.h"

#include "rnnsearch/base/file.h"
#include "rnnsearch/base/portable.h"
#include "tests/support/test.h"

namespace rnnsearch::corpus {
namespace {

std::string random_text(std::size_t bytes) {
  Random random(3);
  std::string text;
  while (text.size() < bytes)
    text += "line " + std::to_string(random.below(1000)) + (random.below(9) == 0 ? "\n" : " ");
  return text;
}

std::string read_all(const std::filesystem::path& path, std::size_t buffer_bytes) {
  const auto source = ByteSource::open(path);
  std::string text, buffer(buffer_bytes, '\0');
  while (const std::size_t count = source->read(buffer)) text.append(buffer, 0, count);
  EXPECT_EQ(source->read(buffer), 0u) << "the end is not the end";
  EXPECT_EQ(source->position(), source->size());
  return text;
}

struct Format {
  const char* name;
  const char*
      command;  // from standard input to standard output, and what compresses it so well that much comes of little
};

class ByteSourceOf : public ScratchTest, public testing::WithParamInterface<Format> {
 protected:
  // What the usual program makes of `text`.
  std::filesystem::path compressed(const std::string& text, const std::string& name = "compressed") const {
    write_text(scratch_ / "plain", text);
    const std::string command = std::string(GetParam().command) + " <'" + (scratch_ / "plain").string() + "' >'" +
                                (scratch_ / name).string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return scratch_ / name;
  }
};

TEST_P(ByteSourceOf, GivesBackWhatWasCompressed) {
  for (const std::string& text : {std::string("a\n"), random_text(3 << 20), std::string(5 << 20, 'x')}) {
    const auto path = compressed(text);
    for (const std::size_t buffer : {std::size_t{1} << 18, std::size_t{7919}}) EXPECT_EQ(read_all(path, buffer), text);
  }
}

TEST_P(ByteSourceOf, ReadsFilesThatWereAppendedToOneAnother) {
  const std::string one = random_text(300000), two = "two\n";
  write_text(scratch_ / "both", read_file(compressed(one, "one")) + read_file(compressed(two, "two")));
  EXPECT_EQ(read_all(scratch_ / "both", 1 << 16), one + two);
}

TEST_P(ByteSourceOf, RefusesWhatIsTruncatedOrDamaged) {
  if (GetParam().name == std::string("plain")) return;  // any bytes are a plain file
  const std::string whole = read_file(compressed(random_text(1 << 20)));
  Random random(11);
  for (int i = 0; i < 40; ++i) {
    const std::size_t cut = 7 + random.below(whole.size() - 7);
    write_text(scratch_ / "cut", whole.substr(0, cut));
    EXPECT_THAT(message_of([&] { read_all(scratch_ / "cut", 1 << 16); }), HasSubstr("truncated")) << cut;
  }
  for (int i = 0; i < 40; ++i) {  // all three have check sums; the first bytes say what it is
    std::string damaged = whole;
    const std::size_t at = whole.size() / 4 + random.below(whole.size() / 2);
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.below(8)));
    write_text(scratch_ / "damaged", damaged);
    EXPECT_THAT(message_of([&] { read_all(scratch_ / "damaged", 1 << 16); }),
                AnyOf(HasSubstr("damaged"), HasSubstr("truncated")))
        << at;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, ByteSourceOf,
                         testing::Values(Format{"plain", "cat"}, Format{"gzip", "gzip"},
                                         Format{"zstd", "zstd -q --check"}, Format{"xz", "xz -1"}),
                         [](const auto& format) { return std::string(format.param.name); });

TEST(ByteSource, LeavesOutTheZerosThatATapePadsGzipWith) {
  const Scratch scratch;
  const std::string text = random_text(3000), command = "gzip <'" + (scratch / "plain").string() + "' >'";
  write_text(scratch / "plain", text);
  ASSERT_EQ(std::system((command + (scratch / "packed").string() + "'").c_str()), 0);
  const std::string packed = read_file(scratch / "packed");
  for (const std::size_t zeros : {1u, 512u, 600000u}) {
    write_text(scratch / "padded", packed + std::string(zeros, '\0'));
    EXPECT_EQ(read_all(scratch / "padded", 1 << 16), text) << zeros;
  }
  write_text(scratch / "padded", packed + std::string(10, '\0') + "this is no gzip");
  EXPECT_THAT(message_of([&] { read_all(scratch / "padded", 1 << 16); }), HasSubstr("damaged"));
}

TEST(ByteSource, RefusesWhatIsNoFile) {
  const Scratch scratch;
  EXPECT_THAT(message_of([&] { ByteSource::open(scratch / "none"); }), HasSubstr("no such file"));
  EXPECT_THAT(message_of([&] { ByteSource::open(scratch.path()); }), HasSubstr("folder"));
  write_text(scratch / "set.xml.gz", "a\n");
  EXPECT_THAT(message_of([&] { ByteSource::open(scratch / "set.xml.gz"); }), HasSubstr("markup; data/lines.pl"));
  write_text(scratch / "empty", "");
  EXPECT_THAT(message_of([&] { ByteSource::open(scratch / "empty"); }), HasSubstr("empty"));
}

}  // namespace
}  // namespace rnnsearch::corpus
