#include "rnnsearch/base/packed.h"

#include <gtest/gtest.h>

namespace rnnsearch {
namespace {

TEST(Packed, ReadsBackWhatWasAddedInItsOrder) {
  Packer packer;
  packer.add(2.5);
  packer.add_text(std::string("a\0b\n", 4));
  packer.add_list(std::vector<float>{1, 2, 3});
  packer.add_list(std::vector<float>{});
  packer.add_text("");
  const std::string bytes = packer.take();
  EXPECT_EQ(packer.take(), "");
  Unpacker unpacker(bytes);
  EXPECT_EQ(unpacker.next<double>(), 2.5);
  EXPECT_EQ(unpacker.next_text(), std::string_view("a\0b\n", 4));
  EXPECT_EQ(unpacker.next_list<float>(), (std::vector<float>{1, 2, 3}));
  EXPECT_TRUE(unpacker.next_list<float>().empty());
  EXPECT_FALSE(unpacker.empty());
  EXPECT_EQ(unpacker.next_text(), "");
  EXPECT_TRUE(unpacker.empty());
}

}  // namespace
}  // namespace rnnsearch
