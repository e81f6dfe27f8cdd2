#include "rnnsearch/base/sentence_of.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <system_error>

#include "rnnsearch/base/error.h"

namespace rnnsearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(SentenceOf, SaysWhatFailedWhereTheSystemOnlySaysWhy) {
  EXPECT_EQ(sentence_of(Error("a.h5 is empty; name another file")), "a.h5 is empty; name another file");
  EXPECT_EQ(sentence_of(std::bad_alloc()), kNoMemory);
  try {
    static_cast<void>(std::filesystem::file_size("nowhere/a.txt"));
    FAIL() << "nothing was thrown";
  } catch (const std::exception& error) {
    EXPECT_EQ(sentence_of(error), "cannot access nowhere/a.txt: No such file or directory (cannot get file size)");
  }
  try {
    std::filesystem::rename("nowhere/a", "nowhere/b");
    FAIL() << "nothing was thrown";
  } catch (const std::exception& error) {
    EXPECT_EQ(sentence_of(error), "cannot access nowhere/a or nowhere/b: No such file or directory (cannot rename)");
  }
  const auto of_thread = AllOf(StartsWith("cannot start a thread: "), HasSubstr("ulimit -u"), HasSubstr("--threads"));
  EXPECT_THAT(sentence_of(std::system_error(EAGAIN, std::generic_category())), of_thread);
  EXPECT_THAT(sentence_of(std::runtime_error("pthread_create has failed: Resource temporarily unavailable")),
              of_thread);
}

}  // namespace
}  // namespace rnnsearch
