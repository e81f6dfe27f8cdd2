#include "rnnsearch/base/packed.h"

#include <gtest/gtest.h>

#include <vector>

namespace rnnsearch {
namespace {

struct Pair {
  std::string name;
  std::vector<float> values;
  static auto fields(auto& pair) { return std::tie(pair.name, pair.values); }
};

TEST(Packed, ReadsBackWhatWasAddedInItsOrder) {
  Packer packer;
  packer.add(2.5);
  packer.add(std::vector<Pair>{{std::string("a\0b\n", 4), {1, 2, 3}}, {"", {}}});
  packer.add("c");
  const std::string bytes = packer.take();
  EXPECT_EQ(packer.take(), "");
  Unpacker unpacker(bytes);
  EXPECT_EQ(unpacker.next<double>(), 2.5);
  const auto pairs = unpacker.next<std::vector<Pair>>();
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].name, std::string("a\0b\n", 4));
  EXPECT_EQ(pairs[0].values, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(pairs[1].name.size() + pairs[1].values.size(), 0u);
  EXPECT_FALSE(unpacker.empty());
  EXPECT_EQ(unpacker.next<std::string_view>(), "c");
  EXPECT_TRUE(unpacker.empty());
}

}  // namespace
}  // namespace rnnsearch
