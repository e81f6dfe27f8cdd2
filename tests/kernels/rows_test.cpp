#include "rnnsearch/kernels/rows.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/kernels/guarded.h"

namespace rnnsearch::kernels {
namespace {

// All of these are copies or sums in a stated order: the loops below must agree to the bit, in either precision.
constexpr Bound kExact{0.0};

template <class Real>
class Rows : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Rows, Reals);

TYPED_TEST(Rows, AreGatheredByIndex) {
  Random random(1);
  for (const std::size_t W : lengths()) {
    Guarded<TypeParam> from(6, W, W % 5), to(4, W, W % 3, W % 7);
    from.normal(random);
    const std::vector<std::uint32_t> index{5, 0, 5, 2};
    std::vector<double> expected;
    for (const auto i : index)
      for (std::size_t j = 0; j < W; ++j) expected.push_back(from(i, j));
    gather_rows<TypeParam>(from.read(), index, to.view());
    ASSERT_TRUE(close(to, expected, kExact, "width " + std::to_string(W)));
  }
}

TYPED_TEST(Rows, AreScatteredInTheOrderGivenThoughIndicesRepeat) {
  Random random(2);
  for (const std::size_t W : lengths()) {
    Guarded<TypeParam> from(7, W, W % 5), to(4, W, W % 3, W % 7);
    from.normal(random);
    to.normal(random, 1e-3);
    const std::vector<std::uint32_t> index{3, 1, 3, 3, 0, 1, 3};
    Guarded<TypeParam> sums = to;
    for (std::size_t i = 0; i < index.size(); ++i)
      for (std::size_t j = 0; j < W; ++j) sums(index[i], j) += from(i, j);
    scatter_add_rows<TypeParam>(from.read(), index, to.view());
    ASSERT_TRUE(close(to, sums.values(), kExact, "width " + std::to_string(W)));
  }
}

TYPED_TEST(Rows, AreCopied) {
  Random random(3);
  for (const std::size_t W : lengths()) {
    Guarded<TypeParam> from(3, W, W % 5), to(3, W, W % 3, W % 7);
    from.normal(random);
    copy_rows<TypeParam>(from.read(), to.view());
    ASSERT_TRUE(close(to, from.values(), kExact, "width " + std::to_string(W)));
  }
}

TYPED_TEST(Rows, AreAdded) {
  Random random(4);
  for (const std::size_t W : lengths()) {
    Guarded<TypeParam> from(3, W, W % 5), to(3, W, W % 3, W % 7);
    from.normal(random);
    to.normal(random);
    Guarded<TypeParam> sums = to;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < W; ++j) sums(i, j) += from(i, j);
    add<TypeParam>(from.read(), to.view());
    ASSERT_TRUE(close(to, sums.values(), kExact, "width " + std::to_string(W)));
  }
}

TYPED_TEST(Rows, ReceiveTheBias) {
  Random random(5);
  for (const std::size_t W : lengths()) {
    Guarded<TypeParam> bias(1, W, W % 5), to(3, W, W % 3, W % 7);
    bias.normal(random);
    to.normal(random);
    Guarded<TypeParam> sums = to;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < W; ++j) sums(i, j) += bias(0, j);
    add_to_rows<TypeParam>(bias.row(0), to.view());
    ASSERT_TRUE(close(to, sums.values(), kExact, "width " + std::to_string(W)));
  }
}

TYPED_TEST(Rows, AreSummedFromTheFirstToTheLast) {
  Random random(6);
  for (const std::size_t W : lengths()) {
    Guarded<TypeParam> from(9, W, W % 5), sums(1, W, W % 3);
    from.normal(random);
    sums.normal(random, 1e3);
    Guarded<TypeParam> expected = sums;
    for (std::size_t i = 0; i < 9; ++i)
      for (std::size_t j = 0; j < W; ++j) expected(0, j) += from(i, j);
    add_column_sums<TypeParam>(from.read(), sums.row(0));
    ASSERT_TRUE(close(sums, expected.values(), kExact, "width " + std::to_string(W)));
  }
}

TYPED_TEST(Rows, MayBeNone) {
  Guarded<TypeParam> none(0, 5), table(2, 5), sums(1, 5);
  table.fill([] { return 1.5; });
  sums.fill([] { return 2.5; });
  gather_rows<TypeParam>(table.read(), {}, none.view());
  scatter_add_rows<TypeParam>(none.read(), {}, table.view());
  copy_rows<TypeParam>(none.read(), none.view());
  add<TypeParam>(none.read(), none.view());
  add_to_rows<TypeParam>(sums.row(0), none.view());
  add_column_sums<TypeParam>(none.read(), sums.row(0));
  EXPECT_TRUE(none.guards_hold());
  close(table, std::vector<double>(10, 1.5), kExact, "table");
  close(sums, std::vector<double>(5, 2.5), kExact, "sums");
}

TYPED_TEST(Rows, HaveTheSameBitsOnAnyNumberOfThreads) {
  expect_same_bits_on_any_number_of_threads([] {
    Random random(7);
    constexpr std::size_t kRows = 300, kWidth = 201;
    Guarded<TypeParam> from(kRows, kWidth), table(40, kWidth), gathered(kRows, kWidth), sums(1, kWidth);
    from.normal(random);
    table.normal(random);
    sums.normal(random);
    std::vector<std::uint32_t> index(kRows);
    for (auto& i : index) i = static_cast<std::uint32_t>(random.below(40));
    scatter_add_rows<TypeParam>(from.read(), index, table.view());
    gather_rows<TypeParam>(table.read(), index, gathered.view());
    add<TypeParam>(from.read(), gathered.view());
    add_to_rows<TypeParam>(table.row(3), gathered.view());
    add_column_sums<TypeParam>(gathered.read(), sums.row(0));
    return joined({table.values(), gathered.values(), sums.values()});
  });
}

}  // namespace
}  // namespace rnnsearch::kernels
