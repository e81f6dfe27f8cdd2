#include "rnnsearch/kernels/rows.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/kernels/guarded.h"

namespace rnnsearch::kernels {
namespace {

// All of these are copies or sums in a stated order: the loops below must agree to the bit, in either precision.
constexpr Bound kExact{0.0};

TEST(Rows, AreGatheredByIndex) {
  Random random(1);
  for (const std::size_t W : lengths()) {
    Guarded<Real> from(6, W, W % 5), to(4, W, W % 3, W % 7);
    from.normal(random);
    const std::vector<std::uint32_t> index{5, 0, 5, 2};
    std::vector<double> expected;
    for (const auto i : index)
      for (std::size_t j = 0; j < W; ++j) expected.push_back(from(i, j));
    gather_rows(from.read(), index, to.view());
    ASSERT_TRUE(close(to, expected, kExact, "width " + std::to_string(W)));
  }
}

TEST(Rows, AreScatteredInTheOrderGivenThoughIndicesRepeat) {
  Random random(2);
  for (const std::size_t W : lengths()) {
    Guarded<Real> from(7, W, W % 5), to(4, W, W % 3, W % 7);
    from.normal(random);
    to.normal(random, 1e-3);
    const std::vector<std::uint32_t> index{3, 1, 3, 3, 0, 1, 3};
    Guarded<Real> sums = to;
    for (std::size_t i = 0; i < index.size(); ++i)
      for (std::size_t j = 0; j < W; ++j) sums(index[i], j) += from(i, j);
    scatter_add_rows(from.read(), index, to.view());
    ASSERT_TRUE(close(to, sums.values(), kExact, "width " + std::to_string(W)));
  }
}

TEST(Rows, AreCopied) {
  Random random(3);
  for (const std::size_t W : lengths()) {
    Guarded<Real> from(3, W, W % 5), to(3, W, W % 3, W % 7);
    from.normal(random);
    copy_rows(from.read(), to.view());
    ASSERT_TRUE(close(to, from.values(), kExact, "width " + std::to_string(W)));
  }
}

TEST(Rows, AreAdded) {
  Random random(4);
  for (const std::size_t W : lengths()) {
    Guarded<Real> from(3, W, W % 5), to(3, W, W % 3, W % 7);
    from.normal(random);
    to.normal(random);
    Guarded<Real> sums = to;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < W; ++j) sums(i, j) += from(i, j);
    add(from.read(), to.view());
    ASSERT_TRUE(close(to, sums.values(), kExact, "width " + std::to_string(W)));
  }
}

TEST(Rows, ReceiveTheBias) {
  Random random(5);
  for (const std::size_t W : lengths()) {
    Guarded<Real> bias(1, W, W % 5), to(3, W, W % 3, W % 7);
    bias.normal(random);
    to.normal(random);
    Guarded<Real> sums = to;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < W; ++j) sums(i, j) += bias(0, j);
    add_to_rows(bias.row(0), to.view());
    ASSERT_TRUE(close(to, sums.values(), kExact, "width " + std::to_string(W)));
  }
}

TEST(Rows, AreSummedFromTheFirstToTheLast) {
  Random random(6);
  for (const std::size_t W : lengths()) {
    Guarded<Real> from(9, W, W % 5), sums(1, W, W % 3);
    from.normal(random);
    sums.normal(random, 1e3);
    Guarded<Real> expected = sums;
    for (std::size_t i = 0; i < 9; ++i)
      for (std::size_t j = 0; j < W; ++j) expected(0, j) += from(i, j);
    add_column_sums(from.read(), sums.row(0));
    ASSERT_TRUE(close(sums, expected.values(), kExact, "width " + std::to_string(W)));
  }
}

TEST(Rows, MayBeNone) {
  Guarded<Real> none(0, 5), table(2, 5), sums(1, 5);
  table.fill([] { return 1.5; });
  sums.fill([] { return 2.5; });
  gather_rows(table.read(), {}, none.view());
  scatter_add_rows(none.read(), {}, table.view());
  copy_rows(none.read(), none.view());
  add(none.read(), none.view());
  add_to_rows(sums.row(0), none.view());
  add_column_sums(none.read(), sums.row(0));
  EXPECT_TRUE(none.guards_hold());
  close(table, std::vector<double>(10, 1.5), kExact, "table");
  close(sums, std::vector<double>(5, 2.5), kExact, "sums");
}

TEST(Rows, HaveTheSameBitsOnAnyNumberOfThreads) {
  expect_same_bits_on_any_number_of_threads([] {
    Random random(7);
    constexpr std::size_t kRows = 300, kWidth = 201;
    Guarded<Real> from(kRows, kWidth), table(40, kWidth), gathered(kRows, kWidth), sums(1, kWidth);
    from.normal(random);
    table.normal(random);
    sums.normal(random);
    std::vector<std::uint32_t> index(kRows);
    for (auto& i : index) i = static_cast<std::uint32_t>(random.below(40));
    scatter_add_rows(from.read(), index, table.view());
    gather_rows(table.read(), index, gathered.view());
    add(from.read(), gathered.view());
    add_to_rows(table.row(3), gathered.view());
    add_column_sums(gathered.read(), sums.row(0));
    return joined({table.values(), gathered.values(), sums.values()});
  });
}

}  // namespace
}  // namespace rnnsearch::kernels
