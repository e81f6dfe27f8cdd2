#include "rnnsearch/kernels/rows.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/kernels/guarded.h"

namespace rnnsearch::kernels {
namespace {

// All of these are copies or sums in a stated order: the loops below must agree to the bit, in either precision.
constexpr Bound kExact{0.0};

// At every width: run(from, to) against expected(from, sums, j), which changes column j of a copy of `to`.
void expect_rows(std::size_t from_rows, std::size_t to_rows, double scale,
                 const std::function<void(Guarded<Real>& from, Guarded<Real>& to)>& run,
                 const std::function<void(Guarded<Real>& from, Guarded<Real>& sums, std::size_t j)>& expected) {
  Random random(1);
  for (const std::size_t W : lengths()) {
    Guarded<Real> from(from_rows, W, W % 5), to(to_rows, W, W % 3, W % 7);
    from.normal(random);
    to.normal(random, scale);
    Guarded<Real> sums = to;
    for (std::size_t j = 0; j < W; ++j) expected(from, sums, j);
    run(from, to);
    ASSERT_TRUE(close(to, sums.values(), kExact, "width " + std::to_string(W)));
  }
}

TEST(Rows, AreGatheredByIndex) {
  const std::vector<std::uint32_t> index{5, 0, 5, 2};
  expect_rows(
      6, 4, 1, [&](auto& from, auto& to) { gather_rows(from.read(), index, to.view()); },
      [&](auto& from, auto& sums, std::size_t j) {
        for (std::size_t i = 0; i < index.size(); ++i) sums(i, j) = from(index[i], j);
      });
}

TEST(Rows, AreScatteredInTheOrderGivenThoughIndicesRepeat) {
  const std::vector<std::uint32_t> index{3, 1, 3, 3, 0, 1, 3};
  expect_rows(
      7, 4, 1e-3, [&](auto& from, auto& to) { scatter_add_rows(from.read(), index, to.view()); },
      [&](auto& from, auto& sums, std::size_t j) {
        for (std::size_t i = 0; i < index.size(); ++i) sums(index[i], j) += from(i, j);
      });
}

TEST(Rows, AreCopied) {
  expect_rows(
      3, 3, 1, [](auto& from, auto& to) { copy_rows(from.read(), to.view()); },
      [](auto& from, auto& sums, std::size_t j) {
        for (std::size_t i = 0; i < 3; ++i) sums(i, j) = from(i, j);
      });
}

TEST(Rows, AreAdded) {
  expect_rows(
      3, 3, 1, [](auto& from, auto& to) { add(from.read(), to.view()); },
      [](auto& from, auto& sums, std::size_t j) {
        for (std::size_t i = 0; i < 3; ++i) sums(i, j) += from(i, j);
      });
}

TEST(Rows, ReceiveTheBias) {
  expect_rows(
      1, 3, 1, [](auto& bias, auto& to) { add_to_rows(bias.row(0), to.view()); },
      [](auto& bias, auto& sums, std::size_t j) {
        for (std::size_t i = 0; i < 3; ++i) sums(i, j) += bias(0, j);
      });
}

TEST(Rows, AreSummedFromTheFirstToTheLast) {
  expect_rows(
      9, 1, 1e3, [](auto& from, auto& sums) { add_column_sums(from.read(), sums.row(0)); },
      [](auto& from, auto& expected, std::size_t j) {
        for (std::size_t i = 0; i < 9; ++i) expected(0, j) += from(i, j);
      });
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
