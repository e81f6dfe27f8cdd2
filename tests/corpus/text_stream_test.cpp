#include "rnnsearch/corpus/text_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "tests/support/message_of.h"
#include "tests/support/scratch.h"

namespace rnnsearch::corpus {
namespace {

using testing::HasSubstr;

std::string all_of(const std::filesystem::path& path) {
  const auto stream = open_text(path);
  std::string text;
  for (std::string_view bytes; !(bytes = stream->take()).empty();) text += bytes;
  std::replace(text.begin(), text.end(), '\n', '|');
  return text;
}

TEST(TextStream, UnpacksFilesAndTakesPipesAsTheyAre) {
  const Scratch scratch;
  std::string text, lines;
  for (int i = 0; i < 100000; ++i) {  // several buffers
    text += fmt::format("line {}\n", i);
    lines += fmt::format("line {}|", i);
  }
  write_file_atomically(scratch / "plain", text);
  EXPECT_TRUE(all_of(scratch / "plain") == lines);
  const std::string to = "' <'" + (scratch / "plain").string() + "' >'" + (scratch / "packed").string() + "'";
  for (const std::string tool : {"gzip", "zstd", "xz"}) {
    ASSERT_EQ(std::system(("'" + tool + "' '-c" + to).c_str()), 0);
    EXPECT_TRUE(all_of(scratch / "packed") == lines) << tool;
    const std::string packed = read_file(scratch / "packed");
    write_file_atomically(scratch / "half", packed.substr(0, packed.size() / 2));
    EXPECT_THAT(message_of([&] { all_of(scratch / "half"); }), HasSubstr("half")) << tool;
  }
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(scratch / "pipe") << "a\nb"; });
  EXPECT_EQ(all_of(scratch / "pipe"), "a|b");
  writer.join();
  write_file_atomically(scratch / "empty", "");
  EXPECT_EQ(all_of(scratch / "empty"), "");
}

TEST(TextStream, RefusesWhatIsNoText) {
  const Scratch scratch;
  EXPECT_THAT(message_of([&] { open_text(scratch / "none"); }), HasSubstr("cannot read"));
  EXPECT_THAT(message_of([&] { open_text(scratch.path()); }), HasSubstr("is a folder"));
}

}  // namespace
}  // namespace rnnsearch::corpus
