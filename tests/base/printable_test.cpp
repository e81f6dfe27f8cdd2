#include "rnnsearch/base/printable.h"

#include <gtest/gtest.h>

namespace rnnsearch {
namespace {

TEST(Printable, LeavesTextAndShowsWhatATerminalWouldObey) {
  EXPECT_EQ(printable("été \u4e2d 🙂 \u00a0"), "été \u4e2d 🙂 \u00a0");
  EXPECT_EQ(printable("a\nb\tc"), "a b c");
  EXPECT_EQ(printable("\x1b]0;title\a\x7f\r"), "\\x1b]0;title\\x07\\x7f\\x0d");
  EXPECT_EQ(printable("\u009b31m\u0085"), "\\xc2\\x9b31m\\xc2\\x85");
  EXPECT_EQ(printable("\xc2"), "\xc2");
}

}  // namespace
}  // namespace rnnsearch
